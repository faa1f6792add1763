"""Single-use sign-in links. Only a digest is stored: reading the table lets nobody in."""

import hashlib
import secrets
from datetime import timedelta

from django.utils import timezone

from agents.models import SignInToken, User

LIFETIME = timedelta(minutes=10)


def issue(*, user: User) -> str:
    """The token of a new link. Nothing but its digest is kept."""
    now = timezone.now()
    SignInToken.objects.filter(user=user, expires_at__lt=now - timedelta(days=1)).delete()
    token = secrets.token_urlsafe(32)
    SignInToken.objects.create(digest=_digest(token), user=user, expires_at=now + LIFETIME)
    return token


def is_good(*, token: str) -> bool:
    """Whether the link would work now. Only consume() can tell for sure."""
    return SignInToken.objects.filter(
        digest=_digest(token),
        used_at=None,
        expires_at__gt=timezone.now(),
        user__is_active=True,
    ).exists()


def consume(*, token: str) -> User | None:
    """Whom the link signs in. Of two that present it at the same time one gets None."""
    now = timezone.now()
    # No condition on the user here: a join would put the whole test into a subquery, which
    # PostgreSQL does not look at again after waiting for the other one.
    link = SignInToken.objects.filter(digest=_digest(token))
    if link.filter(used_at=None, expires_at__gt=now).update(used_at=now) != 1:
        return None
    user = link.select_related("user").get().user
    return user if user.is_active else None


def _digest(token: str) -> str:
    # 256 random bits need no slow hash.
    return hashlib.sha256(token.encode()).hexdigest()
