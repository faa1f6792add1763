"""What the bench of load tells is only as good as its arithmetic, and as its counting of faults."""

import threading

import pytest

from bench import load
from bench.load import Accepted, Client, Told, expect, messages, run
from conversations.models import Conversation
from tests.factories import MessageFactory


def test_figures_are_milliseconds_and_calls_a_second() -> None:
    told = Told(2.0, taken=[n / 1000 for n in range(1, 101)])
    told.errors["late"] = 3
    assert told.figures() == {"rps": 50.0, "p50": 50.0, "p95": 95.0, "p99": 99.0, "errors": 3}
    assert Told(1.0).figures()["rps"] == 0


def test_every_call_counts_once_as_taken_or_as_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "WARM", 0)
    made, lock = 0, threading.Lock()

    def act(client: Client) -> None:
        nonlocal made
        with lock:
            made += 1
            number = made
        expect((500 if number % 3 == 0 else 200, b"{}"), 200)

    told = run(act, [Client(1, n, "key") for n in range(3)], 0.05)
    assert made
    assert len(told.taken) == made - made // 3
    assert told.errors.total() == made // 3


@pytest.mark.django_db
def test_a_message_that_is_not_there_is_lost() -> None:
    kept = MessageFactory.create()
    talk: Conversation = kept.conversation
    accepted = Accepted()
    accepted.add(talk.owner.username, talk.external_id, [kept.client_id])
    assert (len(accepted), accepted.lost()) == (1, 0)
    accepted.add(talk.owner.username, talk.external_id, ["never came"])
    accepted.add(talk.owner.username, "no such talk", ["a", "b"])
    assert (len(accepted), accepted.lost()) == (4, 3)


def test_no_two_batches_share_a_name() -> None:
    client = Client(1, 0, "key")
    names = [one["id"] for _ in range(3) for one in messages(client, lambda: "a kiln")]
    assert len(set(names)) == 6
