from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from agents.audit import acting, person
from agents.gate import DEFAULT_OFF, DEFAULT_ON, DISABLED, MODES, MemoryOff, memory_on, require_on
from agents.models import AuditEvent, OwnerSettings, User
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

ALLOWED = {
    (DISABLED, True): False,
    (DISABLED, None): False,
    (DISABLED, False): False,
    (DEFAULT_OFF, True): True,
    (DEFAULT_OFF, None): False,
    (DEFAULT_OFF, False): False,
    (DEFAULT_ON, True): True,
    (DEFAULT_ON, None): True,
    (DEFAULT_ON, False): False,
}


def may_write(owner: User) -> bool:
    try:
        with transaction.atomic():
            require_on(owner)
    except MemoryOff:
        return False
    return True


@pytest.mark.parametrize("check", [memory_on, may_write])
@pytest.mark.parametrize(("mode", "choice"), list(ALLOWED))
def test_reading_and_writing_follow_the_mode_and_the_owners_choice(
    settings: Settings, mode: str, choice: bool | None, check: Callable[[User], bool]
) -> None:
    settings.MEMORY_MODE = mode
    owner = UserFactory.create(settings__memory_enabled=choice)
    assert check(owner) is ALLOWED[mode, choice]


def test_the_table_is_complete() -> None:
    assert {mode for mode, _ in ALLOWED} == set(MODES)
    assert len(ALLOWED) == len(MODES) * 3


@pytest.mark.parametrize("check", [memory_on, may_write])
@pytest.mark.parametrize("mode", ["", "on", "disable", "DEFAULT_ON"])
def test_a_mode_that_is_none_of_ours_means_no(
    settings: Settings, mode: str, check: Callable[[User], bool]
) -> None:
    settings.MEMORY_MODE = mode
    assert check(UserFactory.create(settings__memory_enabled=True)) is False


@pytest.mark.parametrize("check", [memory_on, may_write])
@pytest.mark.parametrize("mode", MODES)
def test_an_account_without_settings_has_no_memory(
    settings: Settings, mode: str, check: Callable[[User], bool]
) -> None:
    """No row, no switch to hold still: nothing may be written."""
    settings.MEMORY_MODE = mode
    assert check(User.objects.bulk_create([User(username="half made")])[0]) is False


@pytest.mark.parametrize("check", [memory_on, may_write])
def test_one_owners_switch_is_not_anothers(
    alice: User, bob: User, check: Callable[[User], bool]
) -> None:
    OwnerSettings.objects.filter(owner=bob).update(memory_enabled=False)
    assert (check(alice), check(bob)) == (True, False)


@pytest.mark.parametrize("check", [memory_on, may_write])
def test_the_switch_is_read_from_the_database_each_time(
    alice: User, check: Callable[[User], bool]
) -> None:
    """An owner object that was loaded before says nothing about now."""
    assert alice.settings.memory_enabled is None
    OwnerSettings.objects.filter(owner=alice).update(memory_enabled=False)
    assert check(alice) is False


def test_the_refusal_says_what_to_do(alice: User) -> None:
    OwnerSettings.objects.filter(owner=alice).update(memory_enabled=False)
    with pytest.raises(MemoryOff, match="switch it on in the settings"):
        require_on(alice)


def test_every_turn_of_the_switch_is_in_the_trail(alice: User) -> None:
    def turn(on: Any) -> None:
        with acting(person(alice), "changed in the settings"):
            OwnerSettings.objects.filter(owner=alice).update(memory_enabled=on)

    for on in (False, False, None):
        turn(on)
    events = AuditEvent.objects.filter(
        table="agents_ownersettings", owner_id=alice.pk, action="update"
    ).order_by("id")
    assert [(event.before, event.after) for event in events] == [
        ({"memory_enabled": None}, {"memory_enabled": False}),
        ({"memory_enabled": False}, {"memory_enabled": None}),
    ]
    assert {event.actor for event in events} == {f"person:{alice.pk}"}
