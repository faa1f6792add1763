"""How many calls a key may make in a minute, so that a client in a loop can't take the server.

Counted in the database, because web processes share nothing else: one statement on one row of an
unlogged table. Each kind has its own count, so that a storm of one leaves the others their room.
"""

import time
from enum import StrEnum

from django.conf import settings
from django.db import connection

from agents.models import ApiKey

MINUTE = 60
READING = {"GET", "HEAD"}
COUNT = """
    INSERT INTO agents_callcount AS c (owner_id, client_id, kind, minute, calls)
    VALUES (%s, %s, %s, %s, 1)
    ON CONFLICT (owner_id, client_id, kind) DO UPDATE SET
        calls = CASE WHEN c.minute >= excluded.minute THEN c.calls + 1 ELSE 1 END,
        minute = greatest(c.minute, excluded.minute)
    RETURNING calls
"""


class Kind(StrEnum):
    READ = "read"
    WRITE = "write"
    RECALL = "recall"
    CHAT = "chat"  # passes through to a model server


class TooManyCalls(Exception):
    """`wait`: seconds until the next minute begins."""

    def __init__(self, kind: Kind, wait: int) -> None:
        allowed = settings.API_CALLS_PER_MINUTE
        super().__init__(f"This key may make {allowed} {kind} calls a minute; wait {wait} s.")
        self.wait = wait


def kind_of(scope: str, method: str) -> Kind:
    """Searching is a POST, so that its words get into no log of addresses, but it reads."""
    apart = {ApiKey.Scope.RECALL: Kind.RECALL, ApiKey.Scope.PROXY: Kind.CHAT}
    if scope in apart:
        return apart[ApiKey.Scope(scope)]
    return Kind.READ if method in READING or scope == ApiKey.Scope.SEARCH else Kind.WRITE


def count(key: ApiKey, kind: Kind) -> None:
    """Raises TooManyCalls."""
    allowed = settings.API_CALLS_PER_MINUTE
    if not allowed:
        return
    now = int(time.time())
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [key.owner_id, key.pk, kind, now // MINUTE])
        (calls,) = cursor.fetchone()
    if calls > allowed:
        raise TooManyCalls(kind, MINUTE - now % MINUTE)
