"""How many passwords may be tried for a name, so that nobody guesses one.

Counted in the database, because web processes share nothing else, and before the password is looked
at, so that many at the same time get no more tries. Any name counts alike, or the answer would tell
which ones exist; a keyed hash stands for it, because people type passwords into that field too. Not
by address: behind a proxy all have the same.

Whoever shuts a name this way keeps its owner from the form only; a sign-in link still works, and
opens it again.
"""

import logging
import time
from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from agents.models import PasswordTries, User

log = logging.getLogger(__name__)

MOST = 10
SECONDS = 15 * 60
COUNT = """
    INSERT INTO agents_passwordtries AS t (digest, since, tries) VALUES (%(digest)s, %(now)s, 1)
    ON CONFLICT (digest) DO UPDATE SET
        tries = CASE WHEN t.since > %(ended)s THEN t.tries + 1 ELSE 1 END,
        since = CASE WHEN t.since > %(ended)s THEN t.since ELSE excluded.since END
    RETURNING tries
"""
# Two that clean up at the same time don't wait for each other.
CLEAN_UP = """
    DELETE FROM agents_passwordtries WHERE digest IN
        (SELECT digest FROM agents_passwordtries WHERE since <= %s FOR UPDATE SKIP LOCKED)
"""


class Counted:
    """Stands ahead of the backend that looks at passwords, and lets nobody in itself.

    It knows no users (no get_user), so no session is ever its own."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None
    ) -> None:
        """Raises PermissionDenied, which asks no further backend."""
        if username is not None and password is not None and count(username) > MOST:
            raise PermissionDenied


def count(name: str) -> int:
    """Which try this is."""
    now = int(time.time())
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"digest": _digest(name), "now": now, "ended": now - SECONDS})
        tries: int = cursor.fetchone()[0]
        if tries == 1:
            cursor.execute(CLEAN_UP, [now - SECONDS])
    if tries == MOST + 1:
        log.warning("More than %d passwords were tried for a name; it takes none for a while", MOST)
    return tries


def wait(name: str) -> int:
    """Seconds until the next password of this name is looked at; 0 where the next one is."""
    row = PasswordTries.objects.filter(digest=_digest(name), tries__gt=MOST).first()
    return max(row.since + SECONDS - int(time.time()), 0) if row else 0


def forget(sender: Any, user: User, **rest: Any) -> None:
    PasswordTries.objects.filter(digest=_digest(user.get_username())).delete()


def listen() -> None:
    user_logged_in.connect(forget, dispatch_uid="tries")


def _digest(name: str) -> str:
    return salted_hmac("agents.tries", name, algorithm="sha256").hexdigest()
