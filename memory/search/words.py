"""The words of a question, as the raw record's passages may have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from agents.models import User
from memory.recall.dates import date_words
from memory.text.language import detect_language, language_config
from memory.text.words import UNSPACED
from memory.text.words import words as words_of

# More than a few words of a question say the same thing again.
WORDS = 32

_SPACELESS = re.compile(f"[{UNSPACED}]+")
_GLUED = re.compile(f"[{UNSPACED}]+|[\u1100-\u11ff\uac00-\ud7a3]{{3,}}")

# A word counts where no language in question calls it a stop word: the question's own if anything
# was said in it, else all that the owner's record is in. Positions count stop words too, so that a
# missing one is a stop word. Scripts without spaces are cut as the passages were.
_OF_RECORD = """
    (SELECT language FROM conversations_indexedpassage WHERE owner_id = %(owner)s
     ORDER BY language LIMIT 1)
    UNION ALL
    SELECT (SELECT language FROM conversations_indexedpassage
            WHERE owner_id = %(owner)s AND language > languages.name
            ORDER BY language LIMIT 1)
    FROM languages WHERE languages.name IS NOT NULL
"""
_GIVEN = "SELECT unnest(%(languages)s::text[])"
_ANALYSIS = """
    WITH RECURSIVE languages(name) AS ({languages}), known AS (
        SELECT name FROM languages WHERE name <> 'simple'
    ), configurations AS (
        SELECT name FROM known
        WHERE name = %(detected)s OR NOT EXISTS (SELECT FROM known WHERE name = %(detected)s)
        UNION SELECT %(detected)s
    ), stems AS (
        SELECT name, lexeme, place
        FROM configurations,
            unnest(to_tsvector(remembrancer_configuration(name), %(spaced)s)),
            unnest(positions) AS place
    ), plain AS (
        SELECT lexeme, place
        FROM unnest(to_tsvector('simple', %(spaced)s)), unnest(positions) AS place
    )
    SELECT left(plain.lexeme, 60) AS word, array_agg(DISTINCT left(stems.lexeme, 60)),
        min(place) AS place
    FROM plain JOIN stems USING (place)
    GROUP BY plain.lexeme
    HAVING count(DISTINCT stems.name) = (SELECT count(*) FROM configurations)
    UNION ALL
    SELECT term, ARRAY[term], 0 FROM remembrancer_terms('simple', %(glued)s)
    ORDER BY place, word
"""
_STEMS = """
    SELECT ARRAY(SELECT lexeme FROM unnest(
        to_tsvector(remembrancer_configuration(language), body)) WHERE length(lexeme) > 1)
    FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS texts (language, body, number)
    ORDER BY number
"""


@dataclass(frozen=True)
class Word:
    """A word of the question, and every term under which a passage may have it."""

    text: str
    terms: frozenset[str]


def analyse(question: str, owner: User, languages: Sequence[str] | None = None) -> list[Word]:
    """The words of content, each once. `languages`: the configurations of what is searched, where
    that is not the owner's record."""
    language = detect_language(question)
    detected = language_config(language)
    values: dict[str, str | UUID | list[str]] = {
        "owner": owner.pk,
        "languages": list(languages or ()),
        "detected": detected if detected != "simple" else "english",
        "spaced": _SPACELESS.sub(" ", question),
        "glued": " ".join(_GLUED.findall(question)),
    }
    with connection.cursor() as cursor:
        known = _OF_RECORD if languages is None else _GIVEN
        cursor.execute(_ANALYSIS.format(languages=known), values)
        found = {text: {text, *stems} for text, stems, _ in cursor.fetchall()}
    for text, term in date_words(question, language).items():
        found.setdefault(text, {text}).add(term)
    return [Word(text, frozenset(terms)) for text, terms in list(found.items())[:WORDS]]


def content_stems(texts: list[tuple[str, str]]) -> list[set[str]]:
    """Of each (configuration, text). Pairs of characters where a script has no spaces."""
    spaced = [_SPACELESS.sub(" ", text) for _, text in texts]
    with connection.cursor() as cursor:
        cursor.execute(_STEMS, [[language for language, _ in texts], spaced])
        stems = [set(row[0]) for row in cursor.fetchall()]
    for found, (_, text) in zip(stems, texts, strict=True):
        for run in _SPACELESS.findall(text):
            found.update(words_of(run))
    return stems
