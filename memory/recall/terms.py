"""The words of a message, and the facts that have them.

Any word will do, because a message has several topics and a fact has one.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

from agents.models import Agent
from memory.recall.census import SCOPES, Census
from memory.recall.dates import date_words
from memory.recall.lexical import Asked, rarity
from memory.recall.persons import as_of_the_user
from memory.recall.query import Query
from memory.recall.sheets import Every, Sheet, Sheets
from memory.recall.small_talk import FUNCTION_WORDS, QUESTIONS, UNLISTED_FUNCTION_WORDS
from memory.recall.statements import OneRow, ask, ask_together
from memory.text.language import language_config
from memory.text.lists import listed
from memory.text.normal import normalise
from memory.text.words import UNSPACED
from memory.text.words import words as split

# More than a few words of a message say the same thing again.
WORDS = 32
# Every fact says who it is about; the word tells none of them from another.
NAMES_OF_THE_OWNER = listed("""
    user users user's nutzer nutzerin benutzer anwender käyttäjä käyttäjän käyttäjällä
    utilisateur utilisatrice usuario usuaria utente utilizador gebruiker användaren användare
    brukeren brugeren пользователь пользователя kullanıcı użytkownik المستخدم 用户 ユー ーザ ザー
""")
# The term that every fact has.
EVERY = "@"

_SPACELESS = re.compile(f"[{UNSPACED}]+")
_GLUED = re.compile(f"[{UNSPACED}]+|[\u1100-\u11ff\uac00-\ud7a3]{{3,}}")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7a3]{3,}")
_WITHIN = re.compile(r"['.,^⁄+#%-]+")
# Endings and particles.
_KANA = re.compile("[\u3041-\u309f]+")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\u30a0-\u30ff\U00020000-\U0003ffff]{2}")

# A word counts where no configuration in question calls it a stop word: those of the detected
# language if the owner has facts in it, else those of all the owner's languages. Both vectors
# number the words alike, stop words included, so that a missing position is a stop word. Scripts
# without spaces are cut as the facts were.
_ANALYSIS = """
    WITH RECURSIVE languages(name) AS (
        (SELECT language FROM memory_fact WHERE owner_id = %(owner)s AND state = 'active'
         ORDER BY language LIMIT 1)
        UNION ALL
        SELECT (SELECT language FROM memory_fact
                WHERE owner_id = %(owner)s AND state = 'active' AND language > languages.name
                ORDER BY language LIMIT 1)
        FROM languages WHERE languages.name IS NOT NULL
    ), known AS (
        SELECT name FROM languages WHERE name <> 'simple'
    ), configurations AS (
        SELECT name FROM known
        WHERE name = %(detected)s::text
            OR NOT EXISTS (SELECT FROM known WHERE name = %(detected)s::text)
        UNION SELECT %(detected)s::text
    ), stems AS (
        SELECT name, lexeme, position
        FROM configurations,
            unnest(to_tsvector(name::regconfig, %(spaced)s::text)), unnest(positions) position
    ), plain AS (
        SELECT lexeme, position
        FROM unnest(to_tsvector('simple', %(spaced)s::text)), unnest(positions) position
    )
    SELECT array_agg(word ORDER BY place, word), array_agg(stems ORDER BY place, word),
        array_agg(is_pair ORDER BY place, word)
    FROM (
        SELECT left(plain.lexeme, 60), string_agg(DISTINCT left(stems.lexeme, 60), E'\n'), false,
            min(position)
        FROM plain JOIN stems USING (position)
        GROUP BY plain.lexeme
        HAVING count(DISTINCT stems.name) = (SELECT count(*) FROM configurations)
        UNION ALL
        SELECT term, term, true, 0 FROM remembrancer_terms('simple', %(glued)s::text)
    ) AS found (word, stems, is_pair, place)
"""
# One index-only scan per lexeme, whose rows come as one value (memory/recall/sheets.py): to make a
# thousand rows into objects takes longer than to find them.
_POSTINGS = """
    SELECT w.word, (
        SELECT string_agg(
            uuid_send(fact_id) || float8send(tf) || int4send(length) || int4send(words)
                || boolsend(stated), '')
        FROM (
            SELECT fact_id, tf, stated, length, words FROM memory_factterm
            WHERE owner_id = %(owner)s AND term = w.term AND {scope} LIMIT {rows}
        ) AS facts
    )
    FROM unnest(%(terms)s::text[], %(words)s::int[]) AS w (term, word)
"""
# Each by the key, which has all that is read: by the facts alone every term that they have would be
# fetched, 9 ms of 160 facts where this takes one.
_PROBE = """
    SELECT probed.fact_id, sought.term, at.tf, at.stated
    FROM unnest(%(terms)s::text[]) AS sought (term)
    CROSS JOIN unnest(%(facts)s::uuid[]) AS probed (fact_id)
    CROSS JOIN LATERAL (
        SELECT tf, stated FROM memory_factterm
        WHERE owner_id = %(owner)s AND term = sought.term AND fact_id = probed.fact_id OFFSET 0
    ) AS at
"""


@dataclass(frozen=True)
class Word:
    """A word of the message, and every lexeme under which a fact may have it."""

    text: str
    lexemes: tuple[str, ...]
    # Two characters of a script without spaces.
    is_pair: bool = False
    is_date: bool = False


class Reading(NamedTuple):
    """The words of a message, or of one of its topics, by number."""

    words: Collection[int]
    asks: bool = True


@dataclass(frozen=True)
class Postings:
    """The facts that have any of the words, and how many an agent may read at all."""

    words: Sequence[Word]
    sheets: Sheets
    counts: Sequence[int]
    facts: int
    average: float
    # Words of more facts than were read.
    common: frozenset[int]
    # Where there are several.
    topics: Sequence[Reading] = ()

    def asked(self, prior: int) -> list[Asked]:
        """The message as a whole, then each of its topics."""
        rows = self.facts + prior
        whole = Asked({n: rarity(count, rows) for n, count in enumerate(self.counts)})
        return [whole, *(whole.of(topic.words) for topic in self.topics)]

    def said(self, prior: int) -> list[Asked]:
        """Of what was asked that which statements say: seldom their date, so that a date asked for
        uncovers nothing."""
        return [asked.of(self.contents) for asked in self.asked(prior)]

    @property
    def readings(self) -> list[Reading]:
        """Of `said`, in its order."""
        contents = set(self.contents)
        parts = (Reading(contents & set(words), asks) for words, asks in self.topics)
        return [Reading(contents), *parts]

    @property
    def contents(self) -> list[int]:
        return [n for n, word in enumerate(self.words) if not word.is_date]

    def best(self, prior: int, rows: int) -> list[tuple[UUID, float, tuple[str, ...]]]:
        """The facts that have most of what was asked, with the words met."""
        places, scores = self.sheets.best(self.asked(prior), self.average, rows)
        texts = [word.text for word in self.words]
        met = (
            [text for text, has in zip(texts, row, strict=True) if has]
            for row in self.sheets.have(places)
        )
        ids = self.sheets.ids_of(places)
        return [
            (key, score, tuple(words)) for key, score, words in zip(ids, scores, met, strict=True)
        ]


def analysis(query: Query, agent: Agent) -> OneRow:
    """What the words of a message are to Postgres."""
    detected = language_config(query.language)
    values: dict[str, str | UUID] = {
        "owner": agent.owner_id,
        # With nothing detected English is as good a guess as any for what is no content.
        "detected": detected if detected != "simple" else "english",
        "spaced": _SPACELESS.sub(" ", query.text),
        "glued": " ".join(_GLUED.findall(query.text)),
    }
    return OneRow(_ANALYSIS, 3, values)


def analyse(query: Query, agent: Agent, row: Sequence[Any] | None = None) -> list[Word]:
    """The words of content, in order. `row`: that of `analysis`, where it was asked for."""
    if row is None:
        [row] = ask_together([analysis(query, agent)])
    found = [
        Word(
            text,
            tuple({text, *stems.split("\n"), *as_of_the_user(text, query.language)}),
            is_pair=pair and bool(_SPACELESS.match(text)),
        )
        for text, stems, pair in zip(*(column or () for column in row), strict=True)
    ]
    return _with_dates(_chosen([word for word in found if _says_something(word)], query), query)


def _chosen(found: list[Word], query: Query) -> list[Word]:
    """The first of each topic where there are too many."""
    if len(found) <= WORDS or not query.topics:
        return found[:WORDS]
    ranks = [len(found)] * len(found)
    for topic in topics_of(found, query):
        for rank, number in enumerate(topic.words):
            ranks[number] = min(rank, ranks[number])
    first = sorted(range(len(found)), key=ranks.__getitem__)[:WORDS]
    return [found[number] for number in sorted(first)]


def topics_of(found: Sequence[Word], query: Query) -> list[Reading]:
    """The words of each topic."""
    texts = [normalise(word.text) for word in found] if query.topics else []
    readings = []
    for topic in query.topics:
        said = set(_tokens(topic.text))
        numbers = [number for number, text in enumerate(texts) if text in said]
        readings.append(Reading(numbers, topic.asks))
    return readings


def numbers_in(found: Sequence[Word], text: str) -> list[int]:
    """Of the words of content that stand in this part of the message."""
    said = set(_tokens(text))
    return [n for n, word in enumerate(found) if normalise(word.text) in said]


def _tokens(text: str) -> Iterator[str]:
    """Its words and whatever Postgres makes of them: "sister's" is two, a word of Hangul pairs."""
    for word in split(text):
        yield word
        yield from _WITHIN.split(word)
        for run in _HANGUL.findall(word):
            yield from map("".join, pairwise(run))
    yield from text.casefold().split()


def postings(
    words: Sequence[Word],
    agent: Agent,
    census: Census,
    rows: int,
    topics: Sequence[Reading] = (),
) -> Postings:
    numbered = [(lexeme, n) for n, word in enumerate(words) for lexeme in word.lexemes]
    values: dict[str, Any] = {
        "owner": agent.owner_id,
        "agent": agent.pk,
        "terms": [lexeme for lexeme, _ in numbered],
        "words": [number for _, number in numbered],
    }
    scope = SCOPES[Agent.Reads(agent.reads)]
    found = ask(_POSTINGS.format(scope=scope, rows=rows + 1), values)
    packed = ((word, facts) for word, facts in found if facts)
    sheets = Sheets.unpacked(packed, len(words))
    counts = sheets.counts()
    common = frozenset(number for number, count in enumerate(counts) if count > rows)
    return Postings(words, sheets, counts, census.facts, census.average, common, topics)


def fill_in(found: Postings, agent: Agent, facts: Mapping[UUID, Every]) -> Sheets:
    """The whole sheets of these facts, in their order, whatever leg they come from. Only of a
    common word there can be more than the postings tell."""
    sheets = found.sheets.of_facts(facts)
    if found.common:
        _probe(found, agent, facts, sheets)
    return sheets


def _probe(found: Postings, agent: Agent, facts: Iterable[UUID], sheets: Sheets) -> None:
    numbers: dict[str, list[int]] = {}
    for number in found.common:
        for lexeme in found.words[number].lexemes:
            numbers.setdefault(lexeme, []).append(number)
    columns = {fact_id: column for column, fact_id in enumerate(facts)}
    values: dict[str, Any] = {
        "owner": agent.owner_id,
        "facts": list(columns),
        "terms": list(numbers),
    }
    for fact_id, term, times, stated in ask(_PROBE, values):
        for number in numbers[term]:
            sheets.note(columns[fact_id], number, times, stated)


def numbered(words: Sequence[Word]) -> dict[str, list[int]]:
    """The words by their lexemes, and the term that every fact has."""
    numbers: dict[str, list[int]] = {EVERY: []}
    for number, word in enumerate(words):
        for lexeme in word.lexemes:
            numbers.setdefault(lexeme, []).append(number)
    return numbers


Row = tuple[UUID, str, float, bool, float, int]


def sheets_of(rows: Iterable[Row], numbers: Mapping[str, Sequence[int]]) -> dict[UUID, Sheet]:
    sheets: dict[UUID, Sheet] = {}
    for fact_id, term, times, stated, length, size in rows:
        sheet = sheets.setdefault(fact_id, Sheet(length, size))
        if term == EVERY:
            sheet.dates = times
        for number in numbers[term]:
            sheet.note(number, times, stated)
    return sheets


def is_telling_pair(word: Word) -> bool:
    """Whether one such pair can be a word: of Thai and its neighbours two say no more than a
    syllable."""
    return bool(_HAN.fullmatch(word.text))


def _with_dates(words: list[Word], query: Query) -> list[Word]:
    """A date of the message is also what facts of that date have as a term."""
    dates = date_words(query.message, query.language)
    found = [
        Word(word.text, (*word.lexemes, dates.pop(word.text)), is_date=True)
        if word.text in dates
        else word
        for word in words
    ]
    return found + [Word(text, (term,), is_date=True) for text, term in dates.items()]


def _says_something(word: Word) -> bool:
    text = word.text
    if text in NAMES_OF_THE_OWNER or text in FUNCTION_WORDS or text in UNLISTED_FUNCTION_WORDS:
        return False
    if word.is_pair:
        return len(text) > 1 and not _KANA.fullmatch(text) and not _asks(text)
    return len(text) > 1 or not text.isascii()


def _asks(pair: str) -> bool:
    return any(pair in question for question in QUESTIONS)
