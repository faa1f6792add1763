"""API keys: issue, verify, rotate, revoke. The plaintext exists once, in what `issue` answers.

A key reads `rmb_` + 32 random letters and digits + 6 of a checksum, so that a mistyped or cut key
is refused without asking the database, and scanners can recognise a leaked one.
"""

import secrets
import string
import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from agents.audit import Actor, acting
from agents.models import Agent, ApiKey, User

MARK = "rmb_"
RANDOM_LENGTH = 32  # 190 bits
CHECKSUM_LENGTH = 6
# Shown in lists and used for look-up: 8 random characters say nothing about the other 24.
PREFIX_LENGTH = len(MARK) + 8
USED_AT_MOST_EVERY = timedelta(minutes=1)
_ALPHABET = string.digits + string.ascii_letters


class KeyRefused(ValueError):
    """Why a key can't be issued, in words for the person who asked."""


def issue(
    *,
    owner: User,
    agent: Agent | None,
    name: str,
    scopes: Iterable[str],
    actor: Actor,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """The key's row and its plaintext, which nobody can read again. Raises KeyRefused."""
    asked = _checked_scopes(scopes)
    _check(owner=owner, agent=agent, name=name, expires_at=expires_at)
    plaintext = _new_plaintext()
    with acting(actor, "key issued"):
        key = ApiKey.objects.create(
            owner=owner,
            agent=agent,
            name=name.strip(),
            prefix=plaintext[:PREFIX_LENGTH],
            digest=_digest(plaintext, settings.SECRET_KEY),
            scopes=asked,
            expires_at=expires_at,
        )
    return key, plaintext


def verify(plaintext: str) -> ApiKey | None:
    """The live key behind a plaintext, with its owner and agent loaded."""
    if not is_well_formed(plaintext):
        return None
    key = (
        ApiKey.objects.select_related("owner", "agent")
        .filter(prefix=plaintext[:PREFIX_LENGTH])
        .first()
    )
    if key is None or not _matches(key, plaintext):
        return None
    if not key.is_live(timezone.now()) or not key.owner.is_active:
        return None
    _note_use(key)
    return key


def revoke(*, key: ApiKey, actor: Actor, reason: str = "") -> ApiKey:
    """Keeps the time of the first revocation when done twice."""
    with acting(actor, reason or "key revoked"):
        ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())
    key.refresh_from_db(fields=["revoked_at"])
    return key


def rotate(*, key: ApiKey, actor: Actor, overlap: timedelta = timedelta()) -> tuple[ApiKey, str]:
    """A new key that may do the same, for as long, and its plaintext. The old one ends when the
    overlap does. Raises KeyRefused for a key that opens nothing any more.
    """
    with acting(actor, "key rotated"):
        old = ApiKey.objects.select_for_update(of=("self",)).select_related("agent").get(pk=key.pk)
        now = timezone.now()
        if not old.is_live(now):
            raise KeyRefused("This key has ended already; make a new one.")
        made, plaintext = issue(
            owner=key.owner,
            agent=old.agent,
            name=old.name,
            scopes=old.scopes,
            expires_at=old.expires_at,
            actor=actor,
        )
        if not overlap:
            revoke(key=old, actor=actor, reason="key rotated")
        else:
            old.expires_at = min(now + overlap, old.expires_at or now + overlap)
            old.save(update_fields=["expires_at"])
    return made, plaintext


def is_well_formed(plaintext: str) -> bool:
    if len(plaintext) != len(MARK) + RANDOM_LENGTH + CHECKSUM_LENGTH or not plaintext.isascii():
        return False
    body, checksum = plaintext[:-CHECKSUM_LENGTH], plaintext[-CHECKSUM_LENGTH:]
    return body.startswith(MARK) and _checksum(body) == checksum


def _new_plaintext() -> str:
    body = MARK + "".join(secrets.choice(_ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + _checksum(body)


def _checksum(body: str) -> str:
    value, letters = zlib.crc32(body.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        value, digit = divmod(value, len(_ALPHABET))
        letters += _ALPHABET[digit]
    return letters


def _digest(plaintext: str, secret: str | bytes) -> str:
    return salted_hmac("agents.keys", plaintext, secret=secret, algorithm="sha256").hexdigest()


def _matches(key: ApiKey, plaintext: str) -> bool:
    """Old secrets are tried too, so that changing SECRET_KEY locks nobody out."""
    tried = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    found = [constant_time_compare(key.digest, _digest(plaintext, secret)) for secret in tried]
    return any(found)


def _note_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or key.last_used_at <= now - USED_AT_MOST_EVERY:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)


def _checked_scopes(scopes: Iterable[str]) -> list[str]:
    asked = sorted(set(scopes))
    unknown = [scope for scope in asked if scope not in ApiKey.Scope.values]
    if unknown or not asked:
        known = ", ".join(ApiKey.Scope.values)
        what = f"Unknown scope {unknown[0]!r}" if unknown else "A key needs a scope"
        raise KeyRefused(f"{what}. The scopes are {known}.")
    return asked


def _check(*, owner: User, agent: Agent | None, name: str, expires_at: datetime | None) -> None:
    if not name.strip() or len(name) > 120:
        raise KeyRefused("A key needs a name of at most 120 characters.")
    if agent is not None and agent.owner_id != owner.pk:
        raise KeyRefused("The agent belongs to somebody else.")
    if expires_at is not None and expires_at <= timezone.now():
        raise KeyRefused("The key would have expired already.")
