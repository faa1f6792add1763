"""Accounts: the person, what they chose, and the first assistant, always made together."""

from agents.audit import Actor, acting
from agents.models import Agent, OwnerSettings, User

FIRST_OWNER = "owner"


def create_owner(
    *,
    username: str,
    actor: Actor,
    reason: str,
    password: str | None = None,
    time_zone: str = "UTC",
    administrator: bool = False,
) -> User:
    """Without a password the account can be entered by a sign-in link only."""
    with acting(actor, reason):
        owner = User(username=username, is_staff=administrator, is_superuser=administrator)
        owner.set_password(password)
        owner.save()
        furnish(owner, time_zone=time_zone)
    return owner


def furnish(owner: User, time_zone: str = "UTC") -> None:
    """What every account has from its first moment. Inside acting()."""
    OwnerSettings.objects.create(owner=owner, time_zone=time_zone)
    Agent.objects.create(owner=owner, slug="default", name="Default", is_default=True)


def first_owner(*, actor: Actor, time_zone: str = "UTC") -> User:
    """The account of the person who runs this server, made when there is none at all."""
    owner = User.objects.filter(is_superuser=True, is_active=True).order_by("date_joined").first()
    if owner is not None:
        return owner
    return create_owner(
        username=FIRST_OWNER,
        actor=actor,
        reason="first start",
        time_zone=time_zone,
        administrator=True,
    )
