"""The double gate: the server's mode and the owner's switch. Checked at read and again at write."""

from django.conf import settings
from django.db import connection

from agents.models import OwnerSettings, User

DISABLED, DEFAULT_OFF, DEFAULT_ON = "disabled", "default_off", "default_on"
MODES = (DISABLED, DEFAULT_OFF, DEFAULT_ON)


class MemoryOff(Exception):
    """Memory is switched off for this owner; nothing may be stored, learned or recalled."""


def allowed(mode: str, choice: bool | None) -> bool:
    """`disabled` wins; an owner who never chose follows the server's default.

    >>> allowed("default_off", True), allowed("default_off", None), allowed("disabled", True)
    (True, False, False)
    """
    if mode == DISABLED:
        return False
    return choice if choice is not None else mode == DEFAULT_ON


def memory_on(owner: User) -> bool:
    choice = OwnerSettings.objects.values_list("memory_enabled", flat=True).get(owner=owner)
    return allowed(settings.MEMORY_MODE, choice)


def require_on(owner: User) -> None:
    """Inside a transaction: holds the switch where it is until the transaction ends.

    Raises MemoryOff.
    """
    with connection.cursor() as cursor:
        # FOR SHARE: writers don't wait for each other, only a change of the switch waits for them.
        cursor.execute(
            "SELECT memory_enabled FROM agents_ownersettings WHERE owner_id = %s FOR SHARE",
            [owner.pk],
        )
        (choice,) = cursor.fetchone()
    if not allowed(settings.MEMORY_MODE, choice):
        raise MemoryOff(
            "Memory is off for this owner: switch it on in the settings, or ask the administrator."
        )
