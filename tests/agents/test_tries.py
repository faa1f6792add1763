"""Passwords can't be guessed: after some tries a name takes none for a while, whoever asks."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.db import connection
from django.test import Client

from agents import signin, tries
from agents.models import PasswordTries, User
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
RIGHT = "correct horse battery"
SHUT = "Too many passwords were tried for this name"
LOGIN, ADMIN = "/accounts/login/", "/admin/login/"


@pytest.fixture(autouse=True)
def quick_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Its one number is the time in seconds."""
    now = [1_800_000_000]
    monkeypatch.setattr("agents.tries.time.time", lambda: now[0])
    return now


@pytest.fixture
def anna() -> User:
    anna: User = UserFactory.create(username="anna", is_staff=True)
    anna.set_password(RIGHT)
    anna.save()
    return anna


def attempt(name: str, password: str, where: str = LOGIN) -> Any:
    """As a browser that nobody knows."""
    return Client().post(where, {"username": name, "password": password, "next": "/review/"})


def wrong(name: str, times: int, where: str = LOGIN) -> list[bool]:
    """Whether each was told that the name is shut."""
    answers = [attempt(name, f"guess {number}", where) for number in range(times)]
    assert {answer.status_code for answer in answers} == {200}
    return [SHUT in answer.content.decode() for answer in answers]


@pytest.mark.parametrize("where", [LOGIN, ADMIN])
def test_after_ten_tries_not_even_the_right_password_is_looked_at(
    anna: User, clock: list[int], where: str
) -> None:
    assert wrong("anna", tries.MOST + 1, where) == [False] * tries.MOST + [True]
    for place in (LOGIN, ADMIN):
        answer = attempt("anna", RIGHT, place)
        assert answer.status_code == 200
        assert f"{SHUT}, so none is looked at for 15 minutes." in answer.content.decode()
    clock[0] += tries.SECONDS - 60
    assert "for 1 minute." in attempt("anna", RIGHT).content.decode()
    clock[0] += 60
    assert attempt("anna", RIGHT)["Location"] == "/review/"


def test_guesses_while_it_is_shut_make_it_no_longer(anna: User, clock: list[int]) -> None:
    wrong("anna", tries.MOST)
    clock[0] += tries.SECONDS - 1
    wrong("anna", 5)
    clock[0] += 1
    assert attempt("anna", RIGHT)["Location"] == "/review/"


def test_a_shut_name_shuts_no_other(anna: User, clock: list[int]) -> None:
    wrong("anna", tries.MOST + 1)
    assert wrong("bella", 1) == [False]


def test_a_name_that_nobody_has_is_answered_alike(anna: User, clock: list[int]) -> None:
    assert wrong("nobody", tries.MOST + 2) == wrong("anna", tries.MOST + 2)


def test_who_signs_in_has_all_tries_again(anna: User, clock: list[int]) -> None:
    wrong("anna", tries.MOST - 1)
    assert attempt("anna", RIGHT)["Location"] == "/review/"
    wrong("anna", tries.MOST - 1)
    assert attempt("anna", RIGHT)["Location"] == "/review/"


def test_a_sign_in_link_works_meanwhile_and_opens_it_again(anna: User, clock: list[int]) -> None:
    assert wrong("anna", tries.MOST + 1)[-1]
    link = Client().post(f"/sign-in/{signin.issue(user=anna)}")
    assert link["Location"] == "/review/"
    assert attempt("anna", RIGHT)["Location"] == "/review/"


def test_code_that_asks_without_a_form_is_counted_too(anna: User, clock: list[int]) -> None:
    for _ in range(tries.MOST):
        assert authenticate(username="anna", password="guess") is None
    assert authenticate(username="anna", password=RIGHT) is None
    clock[0] += tries.SECONDS
    assert authenticate(username="anna", password=RIGHT) == anna


def test_names_are_not_kept_and_old_counts_go(clock: list[int]) -> None:
    wrong("a password in the wrong field", 1)
    assert "password" not in str(PasswordTries.objects.values())
    clock[0] += tries.SECONDS
    wrong("another", 1)
    assert PasswordTries.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_many_at_the_same_time_get_no_more_tries() -> None:
    def count(_: int) -> int:
        try:
            return tries.count("anna")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        counted = sorted(threads.map(count, range(24)))
    assert counted == list(range(1, 25))
