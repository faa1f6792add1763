"""The double gate: the server's mode and the owner's switch. Checked at read and again at write."""

from django.conf import settings
from django.db import connection

from agents.models import OwnerSettings, User

DISABLED, DEFAULT_OFF, DEFAULT_ON = "disabled", "default_off", "default_on"
MODES = (DISABLED, DEFAULT_OFF, DEFAULT_ON)


class MemoryOff(Exception):
    """Memory is switched off for this owner; nothing may be stored, learned or recalled."""


def allowed(mode: str, choice: bool | None) -> bool:
    """An owner who never chose follows the server's default; a mode that is none of ours is "no".

    >>> allowed("default_off", True), allowed("default_off", None), allowed("disabled", True)
    (True, False, False)
    """
    if mode == DEFAULT_ON:
        return choice is not False
    return mode == DEFAULT_OFF and choice is True


def memory_on(owner: User) -> bool:
    row = OwnerSettings.objects.filter(owner=owner).values_list("memory_enabled").first()
    return row is not None and allowed(settings.MEMORY_MODE, row[0])


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
        row = cursor.fetchone()
    if row is None or not allowed(settings.MEMORY_MODE, row[0]):
        raise MemoryOff(
            "Memory is off for this owner: switch it on in the settings, or ask the administrator."
        )
