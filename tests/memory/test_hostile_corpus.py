"""Every hostile text in every place where text comes in, through recall, search and the pages. One
store holds all of a place, so that one answer has all of them, and each can fall in with its
neighbours."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from agents.models import Agent, User
from conversations.models import Conversation, Import
from memory.models import Fact
from memory.recall.service import recall
from memory.search.fenced import fenced
from memory.search.service import search
from memory.sensitive.hidden import show_hidden
from memory.text.characters import without_hidden
from memory.vocabulary import State
from tests.factories import ApiKeyFactory, ConversationFactory, FactFactory
from tests.memory.hostile import EVERYTHING, HARMLESS, storable
from tests.memory.recalling import named
from tests.memory.searching import said

pytestmark = pytest.mark.django_db
PAYLOADS = [storable(text) for text in EVERYTHING.values()]
# Asks for what has the word of all of them.
ALL = "what of quagga?"
# In the address of another page of a list.
_PLACE = re.compile("[?&](?:after|from)=.")
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


def listed(desk: Client, name: str, *arguments: object, **query: str) -> str:
    """What all pages of a list show."""
    start = reverse(name, args=arguments)
    texts, ahead = {}, [f"{start}?{urlencode(query)}"]
    while ahead:
        (shown,) = pages(desk, address := ahead.pop())
        texts[address] = shown.text
        links = (urljoin(start, value) for key, value in shown.attributes if key == "href")
        more = (link for link in links if link.startswith(start) and _PLACE.search(link))
        ahead = [*{link for link in more if link not in texts}]
        assert len(texts) < 20
    return "\n".join(texts.values())


def assert_shows(shown: str, texts: Iterable[str]) -> None:
    """Whole, with what can't be seen spelled out."""
    shown = " ".join(shown.split())
    missing = [text for text in texts if " ".join(show_hidden(text).split()) not in shown]
    assert missing == []


def asked(desk: Client, agent: Agent, message: str) -> Markup:
    answer = desk.post(reverse("recall"), {"message": message, "agent": str(agent.pk)})
    assert answer.status_code == 200
    return assert_harmless(answer.content.decode())


@pytest.fixture
def room(settings: Settings) -> None:
    """For all of them in one block."""
    settings.RECALL = {"budget": 50_000, "rows_per_leg": 500}


def facts(agent: Agent, texts: list[str], **values: object) -> list[Fact]:
    """Each with the word of all, and at its end one of its own."""
    return [
        FactFactory.create(
            agent=agent, state=State.ACTIVE, statement=f"{text} quagga {word(number)}", **values
        )
        for number, text in enumerate(texts)
    ]


def assert_one_line_each(block: str, of: Sequence[str]) -> None:
    lines = assert_fenced(block)
    assert sorted(line.split()[-1] for line in lines) == sorted(map(word, range(len(of))))


def assert_all_found(agent: Agent, scope: str) -> None:
    """Ten at a time, so that neighbours stand beside each other."""
    for start in range(0, len(PAYLOADS), 10):
        words = [word(number) for number in range(start, min(start + 10, len(PAYLOADS)))]
        hits = search(agent=agent, query=" ".join(words), scope=scope, k=60)
        lines = assert_fenced(fenced(hits, HELSINKI))
        assert all(any(line.endswith(one) for line in lines) for one in words)


@pytest.mark.usefixtures("room")
def test_as_facts(agent: Agent, desk: Client) -> None:
    stored = facts(agent, PAYLOADS)
    statements = [fact.statement for fact in stored]
    assert_one_line_each(recall(agent=agent, message=ALL).block, PAYLOADS)
    assert_all_found(agent, "facts")
    assert_shows(asked(desk, agent, ALL).text, statements)
    assert_shows(listed(desk, "facts"), statements)
    for fact in stored:
        (shown,) = pages(desk, reverse("fact", args=[fact.pk]))
        assert_shows(shown.text, [fact.statement])


@pytest.mark.usefixtures("room")
def test_as_facts_that_wait(agent: Agent, desk: Client) -> None:
    statements = [f"{text} quagga {word(number)}" for number, text in enumerate(PAYLOADS)]
    for statement in statements:
        FactFactory.create(agent=agent, statement=statement)
    assert recall(agent=agent, message=ALL).block == ""
    assert_shows(listed(desk, "review", view="list"), statements)
    assert_shows(listed(desk, "facts", state="pending"), statements)


def test_as_messages(agent: Agent, desk: Client) -> None:
    texts = [f"{text} {word(number)}" for number, text in enumerate(PAYLOADS)]
    talk = said(agent, *texts)
    assert_all_found(agent, "raw")
    assert_shows(listed(desk, "conversation", talk.pk), texts)


def test_as_questions(agent: Agent, desk: Client) -> None:
    facts(agent, ["The user likes the sea of"])
    answered = 0
    for text in EVERYTHING.values():
        block = recall(agent=agent, message=f"{text} qwertz {word(0)} sea").block
        if block:  # a long payload asks for other things besides
            (line,) = assert_fenced(block)
            assert "qwertz" not in line
            answered += 1
    assert answered > len(EVERYTHING) / 2
    # The form gives the owner's own words back as they are, which is no place to hide them from.
    asked(desk, agent, without_hidden(" ".join(PAYLOADS).replace("\x1b", ""))[:7000])


@pytest.mark.usefixtures("room")
def test_as_names_of_entities(agent: Agent, desk: Client) -> None:
    met = facts(agent, [f"The user met somebody on day {n} in" for n in range(len(PAYLOADS))])
    names = [f"{word(number)} {text}"[:120] for number, text in enumerate(PAYLOADS)]
    made = [named(fact, name, "Okapi") for fact, name in zip(met, names, strict=True)]
    assert_one_line_each(recall(agent=agent, message="who is Okapi?").block, PAYLOADS)
    answer = asked(desk, agent, "who is Okapi?").text
    assert answer.count("(okapi)") == len(PAYLOADS)
    assert_shows(listed(desk, "entities"), names)
    for entity in made:
        (shown,) = pages(desk, reverse("entity", args=[entity.pk]))
        assert_shows(shown.text, [entity.name])
    # Named by the payload itself, which then stands among what was met.
    for start in range(0, len(names), 10):
        asked(desk, agent, without_hidden(" and ".join(names[start : start + 10])))


@pytest.mark.usefixtures("room")
def test_as_names_of_assistants(agent: Agent, desk: Client) -> None:
    names: list[str] = []
    keys: list[str] = []
    for number, text in enumerate(PAYLOADS):
        names.append(f"{without_hidden(text)[:90]} {word(number)}".replace("\n", " "))
        Agent.objects.create(owner=agent.owner, slug=f"a{number}", name=names[-1])
        keys.append(names[-1].replace(word(number), f"key {number}."))
        ApiKeyFactory.create(owner=agent.owner, name=keys[-1])
    (shown,) = pages(desk, reverse("settings"))
    assert_shows(shown.text, names + keys)
    # In a list to choose from they are as their owner wrote them.
    for shown in pages(desk, reverse("recall"), reverse("facts")):
        assert [name for name in names if name not in shown.text] == []
    every = agent.owner.agents.filter(slug__startswith="a")
    FactFactory.create(owner=agent.owner, state=State.ACTIVE, statement="The user likes the sea.")
    for odd in every:
        assert_shows(asked(desk, odd, "sea?").text, [f"What {odd.name} is told"])


def test_as_titles_of_conversations_and_imports(agent: Agent, desk: Client) -> None:
    titles = [f"{text} {word(number)}" for number, text in enumerate(PAYLOADS)]
    for title in titles:
        brought = Import.objects.create(owner=agent.owner, format="jsonl", file_name=title)
        ConversationFactory.create(agent=agent, title=title, imported_by=brought)
    assert_shows(listed(desk, "conversations"), titles)
    assert_shows(listed(desk, "imports"), titles)
    for talk in Conversation.objects.all():
        (shown,) = pages(desk, reverse("conversation", args=[talk.pk]))
        assert_shows(shown.text, [talk.title])
    for brought in Import.objects.all():
        (shown,) = pages(desk, reverse("import", args=[brought.pk]))
        assert_shows(shown.text, [brought.file_name])


@pytest.mark.usefixtures("room")
def test_harmless_texts_come_through_everywhere_as_they_are(agent: Agent, desk: Client) -> None:
    stored = facts(agent, list(HARMLESS))
    block = recall(agent=agent, message=ALL).block
    talk = said(agent, *(f"{text} {word(99 - n)}" for n, text in enumerate(HARMLESS)))
    for number, text in enumerate(HARMLESS):
        assert f"] {text} quagga {word(number)}\n" in block
        hits = search(agent=agent, query=word(99 - number), scope="raw")
        assert f"] {text} {word(99 - number)}\n" in fenced(hits, HELSINKI)
        named(stored[number], text, "Okapi")
        Agent.objects.create(owner=agent.owner, slug=f"a{number}", name=text)
        brought = Import.objects.create(owner=agent.owner, format="jsonl", file_name=text)
        ConversationFactory.create(agent=agent, title=text, imported_by=brought)
    assert_one_line_each(recall(agent=agent, message="who is Okapi?").block, HARMLESS)
    lists = {
        "a fact": listed(desk, "facts", state="active"),
        "a message": listed(desk, "conversation", talk.pk),
        "an entity": listed(desk, "entities"),
        "an assistant": listed(desk, "settings"),
        "a conversation": listed(desk, "conversations"),
        "an import": listed(desk, "imports"),
        "a line of the block": asked(desk, agent, ALL).text,
    }
    for place, shown in lists.items():
        assert [text for text in HARMLESS if text not in shown] == [], place
