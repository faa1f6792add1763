"""Every hostile text in every place where text comes in, through recall, search and the pages. One
store holds all of a place, so that a payload can also fall in with its neighbours."""

import html
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Agent, User
from conversations.models import Conversation, Import
from memory.models import Entity, EntityAlias, Fact, FactEntity
from memory.recall.service import recall
from memory.search.fenced import fenced
from memory.search.service import search
from memory.text import normalise
from memory.text.characters import without_hidden
from memory.vocabulary import State
from tests.factories import ApiKeyFactory, ConversationFactory, FactFactory
from tests.memory.hostile import EVERYTHING, HARMLESS
from tests.memory.searching import said

pytestmark = pytest.mark.django_db
PAYLOADS = [text.replace("\x00", "") for text in EVERYTHING.values()]
HELSINKI = ZoneInfo("Europe/Helsinki")


def word(number: int) -> str:
    """One that no other text has: in letters, because digits are dates, that no stem loses."""
    return "zanzibar" + "".join("bdfgkmnprv"[int(digit)] for digit in str(number))


def assert_fenced(text: str) -> list[str]:
    """The lines inside, none of which leaves the fence, poses as somebody or hides."""
    first, _, *lines, last = text.split("\n")
    nonce = re.fullmatch(r'<memory trust="data" id="([0-9a-f]{12})">', first)
    assert nonce is not None, first
    assert last == f'</memory id="{nonce[1]}">'
    for line in lines:
        assert line.startswith("- ["), line
        assert not re.search(r"<[\W_]*m[\W_]{0,3}e[\W_]{0,3}m[\W_]{0,3}o", line, re.IGNORECASE)
        assert not re.search(r"<\|?(?:im_start|system|start_of_turn)|<<SYS|\[/?INST\]", line)
        assert not [char for char in line if unicodedata.category(char) in {"Cc", "Co", "Cs"}]
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u3164\uffa0\U000e0000]", line)
    return lines


class Markup(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_harmless(page: str) -> Markup:
    markup = Markup(page)
    assert not markup.tags & {
        "iframe",
        "img",
        "object",
        "embed",
        "conversation",
        "memory",
    }
    assert not [name for name, _ in markup.attributes if name.startswith("on") or name == "srcdoc"]
    addresses = [value for name, value in markup.attributes if name in {"href", "src", "action"}]
    assert not [
        value for value in addresses if re.match(r"(?i)\s*(?:javascript|data|https?):", value)
    ]
    # A field to edit a text in has it as it is.
    shown = re.sub(r"<textarea.*?</textarea>", "", page, flags=re.DOTALL)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    return markup


@pytest.fixture
def desk(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def pages(desk: Client, *addresses: str) -> Iterator[Markup]:
    for address in addresses:
        answer = desk.get(address)
        assert answer.status_code == 200, address
        yield assert_harmless(answer.content.decode())


def facts(agent: Agent, texts: list[str], **values: object) -> list[Fact]:
    return [
        FactFactory.create(
            agent=agent, state=State.ACTIVE, statement=f"{text} {word(number)}", **values
        )
        for number, text in enumerate(texts)
    ]


def assert_all_found(agent: Agent, scope: str) -> None:
    """Ten at a time, so that neighbours stand beside each other."""
    for start in range(0, len(PAYLOADS), 10):
        words = [word(number) for number in range(start, min(start + 10, len(PAYLOADS)))]
        hits = search(agent=agent, query=" ".join(words), scope=scope, k=60)
        lines = assert_fenced(fenced(hits, HELSINKI))
        assert all(any(line.endswith(one) for line in lines) for one in words)


def test_as_facts(agent: Agent, desk: Client) -> None:
    stored = facts(agent, PAYLOADS)
    for number in range(0, len(stored), 3):
        (line,) = assert_fenced(recall(agent=agent, message=f"what of {word(number)}?").block)
        assert line.endswith(word(number))
    assert_all_found(agent, "facts")
    message = f"what of {word(3)}?"
    asked = desk.post(reverse("recall"), {"message": message, "agent": str(agent.pk)})
    assert word(3) in assert_harmless(asked.content.decode()).text
    for number in (0, 5, len(stored) - 1):
        list(pages(desk, reverse("fact", args=[stored[number].pk])))
    (shown,) = pages(desk, reverse("facts"))
    assert word(len(stored) - 1) in shown.text


def test_as_facts_that_wait(agent: Agent, desk: Client) -> None:
    for number, text in enumerate(PAYLOADS):
        FactFactory.create(agent=agent, statement=f"{text} {word(number)}")
        assert recall(agent=agent, message=f"what of {word(number)}?").block == ""
    (shown,) = pages(desk, reverse("review"))
    assert "zanzibar" in shown.text


def test_as_messages(agent: Agent, desk: Client) -> None:
    talk = said(agent, *(f"{text} {word(number)}" for number, text in enumerate(PAYLOADS)))
    assert_all_found(agent, "raw")
    (shown, _) = pages(desk, reverse("conversation", args=[talk.pk]), reverse("conversations"))
    assert "zanzibar" in shown.text


def test_as_questions(agent: Agent, desk: Client) -> None:
    facts(agent, ["The user likes the sea of"])
    answered = 0
    for text in PAYLOADS:
        block = recall(agent=agent, message=f"{text} qwertz {word(0)} sea").block
        if block:  # a long payload asks for other things besides
            (line,) = assert_fenced(block)
            assert "qwertz" not in line
            answered += 1
    assert answered > len(PAYLOADS) / 2
    # The form gives the owner's own words back as they are, which is no place to hide them from.
    long = without_hidden(" ".join(PAYLOADS).replace("\x1b", ""))[:7000]
    asked = desk.post(reverse("recall"), {"message": long, "agent": str(agent.pk)})
    assert_harmless(asked.content.decode())


def test_as_names_of_entities(agent: Agent, desk: Client) -> None:
    for number, text in enumerate(PAYLOADS):
        (fact,) = facts(agent, [f"The user met somebody in {number}"])[:1]
        name = f"{word(number)} {text}"[:120]
        entity = Entity.objects.create(
            owner=agent.owner, type="person", name=name, normal_name=normalise(name)
        )
        EntityAlias.objects.create(
            owner=agent.owner, entity=entity, name=word(number), normal_name=word(number)
        )
        FactEntity.objects.create(owner=agent.owner, fact=fact, entity=entity)
        if number % 8 == 0:
            assert_fenced(recall(agent=agent, message=f"who is {word(number)}?").block)
            asked = desk.post(
                reverse("recall"),
                {"message": f"who is {word(number)}?", "agent": str(agent.pk)},
            )
            assert_harmless(asked.content.decode())
            list(pages(desk, reverse("entity", args=[entity.pk])))
    (shown,) = pages(desk, reverse("entities"))
    assert "zanzibar" in shown.text


def test_as_names_of_assistants(agent: Agent, desk: Client) -> None:
    for number, text in enumerate(PAYLOADS):
        name = without_hidden(text).replace("\n", " ")[:100] or "x"
        Agent.objects.create(owner=agent.owner, slug=f"a{number}", name=f"{name} {word(number)}")
    ApiKeyFactory.create(owner=agent.owner, name=PAYLOADS[-1][:60])
    for shown in pages(desk, reverse("recall"), reverse("settings"), reverse("facts")):
        assert shown.tags
    odd = agent.owner.agents.get(slug="a1")
    facts(odd, ["The user likes the sea of"])
    asked = desk.post(reverse("recall"), {"message": f"{word(0)} sea", "agent": str(odd.pk)})
    assert word(1) in assert_harmless(asked.content.decode()).text


def test_as_titles_of_conversations_and_imports(agent: Agent, desk: Client) -> None:
    for number, text in enumerate(PAYLOADS):
        title = f"{text} {word(number)}"
        brought = Import.objects.create(owner=agent.owner, format="jsonl", file_name=title[:255])
        ConversationFactory.create(agent=agent, title=title[:300], imported_by=brought)
    talk = Conversation.objects.filter(owner=agent.owner).first()
    assert talk is not None
    shown = list(
        pages(
            desk,
            reverse("conversations"),
            reverse("imports"),
            reverse("conversation", args=[talk.pk]),
        )
    )
    assert "zanzibar" in shown[0].text
    assert "zanzibar" in shown[1].text


def test_harmless_texts_come_through_everywhere_as_they_are(agent: Agent, desk: Client) -> None:
    stored = facts(agent, list(HARMLESS))
    for number, text in enumerate(HARMLESS):
        block = recall(agent=agent, message=f"what of {word(number)}?").block
        assert f"] {text} {word(number)}\n" in block
    talk = said(agent, *(f"{text} {word(99 - n)}" for n, text in enumerate(HARMLESS)))
    for number, text in enumerate(HARMLESS):
        hits = search(agent=agent, query=word(99 - number), scope="raw")
        assert f"] {text} {word(99 - number)}\n" in fenced(hits, HELSINKI)
    page = desk.get(reverse("conversation", args=[talk.pk])).content.decode()
    facts_page = desk.get(reverse("facts"), {"state": "active"}).content.decode()
    for number, text in enumerate(HARMLESS):
        assert text in html.unescape(page)
        assert f"{text} {word(number)}" in html.unescape(facts_page)
    assert len(stored) == len(HARMLESS)
