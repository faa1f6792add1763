"""What compaction leaves behind."""

import pytest

from agents.models import Agent
from conversations import breadcrumbs
from conversations.breadcrumbs import MOST, keys_of
from conversations.ingest import compact
from conversations.models import Message, Passage
from tests.conversations.test_index import say

pytestmark = pytest.mark.django_db


def summarise(agent: Agent, up_to: str, summary: str = "") -> None:
    compact(agent=agent, source="api", external_id="c1", up_to=up_to, summary=summary)


def left() -> dict[str, str]:
    """Text by the id of the message that it is from."""
    rows = Passage.objects.filter(kind=Passage.Kind.BREADCRUMB).order_by("place")
    return {row.text: row.message.client_id for row in rows if row.message}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("See /etc/nginx/sites/main.conf there.", "/etc/nginx/sites/main.conf"),
        (r"It is in C:\Users\ida\notes.txt", r"C:\Users\ida\notes.txt"),
        ("Call parse_window_size first", "parse_window_size"),
        ("It was fixed in 4f2a9c1.", "4f2a9c1"),
        ("The rent is 1,250 EUR now", "1,250 EUR"),
        ("He paid $40.50 for it", "$40.50"),
        ("Look at https://example.org/a?b=1.", "https://example.org/a?b=1"),
        ("This is OPS-1432", "OPS-1432"),
        ("As in issue #77, no?", "#77"),
        ('She said "never again in August" twice', "never again in August"),
        ("Sie sagte „nie wieder“ dazu", "nie wieder"),
    ],
)
def test_it_keeps_what_a_summary_loses(agent: Agent, text: str, kept: str) -> None:
    say(agent, text)
    summarise(agent, "m1")
    assert left() == {kept: "m1"}


def test_plain_talk_leaves_nothing(agent: Agent) -> None:
    say(agent, "I don't know; it's a nice day, and we've had three of them. Or 4?")
    summarise(agent, "m1")
    assert left() == {}


def test_the_summarisers_keys_come_first(agent: Agent) -> None:
    assert keys_of("Talk.\n**KEYS:** blue door, Ida; 7 March\nMore.") == [
        "blue door",
        "Ida",
        "7 March",
    ]
    say(agent, "See OPS-1.")
    summarise(agent, "m1", summary="We talked.\nKEYS: blue door")
    assert list(left()) == ["blue door", "OPS-1"]


def test_there_are_at_most_forty(agent: Agent) -> None:
    say(agent, *(f"See OPS-{n}." for n in range(10, 10 + MOST + 5)))
    summarise(agent, f"m{MOST + 5}")
    assert len(left()) == MOST


def test_only_what_is_summarised_away_is_read_and_once(agent: Agent) -> None:
    say(agent, "See OPS-1.", "See OPS-2.", "See OPS-3.")
    summarise(agent, "m1")
    assert left() == {"OPS-1": "m1"}
    summarise(agent, "m2")
    summarise(agent, "m2")
    assert left() == {"OPS-1": "m1", "OPS-2": "m2"}


def test_secrets_are_no_breadcrumbs(agent: Agent) -> None:
    secret = "sk-ant-" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2"
    say(agent, f'See OPS-1. My key is "{secret}".')
    summarise(agent, "m1", summary=f"KEYS: {secret}, the key")
    assert {"OPS-1", "the key"} <= set(left())
    assert not any(secret in text for text in left())


def test_what_was_taken_back_leaves_none(agent: Agent) -> None:
    say(agent, "See OPS-1.", "See OPS-2.")
    Message.objects.filter(client_id="m1").update(on_branch=False)
    summarise(agent, "m2")
    assert left() == {"OPS-2": "m2"}


def test_no_breadcrumb_is_the_neighbour_of_another(agent: Agent) -> None:
    say(agent, "See OPS-1 and OPS-2.")
    summarise(agent, "m1")
    rows = Passage.objects.filter(kind=Passage.Kind.BREADCRUMB).values_list("stretch", "place")
    assert sorted(rows) == [(breadcrumbs.STRETCH, 0), (breadcrumbs.STRETCH, 10)]
    assert Passage.objects.get(kind="message").stretch == 1
