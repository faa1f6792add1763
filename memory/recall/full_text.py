"""The full-text leg: facts that share words of content with the message, stemmed or as they are.

Any word will do, because a message has several topics and a fact has one.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import (
    BooleanField,
    Case,
    Expression,
    F,
    Func,
    IntegerField,
    QuerySet,
    Value,
    When,
)

from agents.models import User
from memory.models import Fact
from memory.recall.query import Query
from memory.recall.small_talk import FUNCTION_WORDS
from memory.text.language import language_config
from memory.text.lists import listed

# More than a few words of a message say the same thing again.
WORDS = 32
# Facts that every store is taken to have besides: a few facts say little about what is rare.
PRIOR = 100
# Every fact says who it is about; the word tells none of them from another.
NAMES_OF_THE_OWNER = listed("""
    user users user's nutzer nutzerin benutzer anwender käyttäjä käyttäjän käyttäjällä
    utilisateur utilisatrice usuario usuaria utente utilizador gebruiker användaren användare
    brukeren brugeren пользователь пользователя kullanıcı użytkownik المستخدم 用户 ユーザー
""")

# A word counts where no configuration in question calls it a stop word: those of the detected
# language if the owner has facts in it, else those of all the owner's languages. Both vectors
# number the words alike, stop words included, so that a missing position is a stop word.
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
        WHERE name = %(detected)s OR NOT EXISTS (SELECT FROM known WHERE name = %(detected)s)
        UNION SELECT %(detected)s
    ), stems AS (
        SELECT name, lexeme, position
        FROM configurations,
            unnest(to_tsvector(name::regconfig, %(message)s)), unnest(positions) position
    ), plain AS (
        SELECT lexeme, position
        FROM unnest(to_tsvector('simple', %(message)s)), unnest(positions) position
    )
    SELECT plain.lexeme, array_agg(DISTINCT stems.lexeme)
    FROM plain JOIN stems USING (position)
    GROUP BY plain.lexeme
    HAVING count(DISTINCT stems.name) = (SELECT count(*) FROM configurations)
    ORDER BY min(position)
"""


# Weights are the inverse document frequencies of BM25 among the facts that the reader may read: a
# word that is in every second fact tells little, one that is in none of them still counts for what
# was asked. Statements are so short that neither length nor repetition matters.
_RANKING = """
    WITH hits(id, matched) AS MATERIALIZED ({hits}),
    known AS (SELECT count(*) + {prior} AS total FROM ({all}) AS readable),
    frequencies AS (
        SELECT number, count(*) AS facts FROM hits, unnest(matched) AS number GROUP BY number
    ), weights AS (
        SELECT number, coalesce(facts, 0) AS facts,
            ln(1 + (total - coalesce(facts, 0) + 0.5) / (coalesce(facts, 0) + 0.5)) AS weight
        FROM known, generate_series(0, %s - 1) AS number LEFT JOIN frequencies USING (number)
    )
    SELECT id, sum(weight) AS score, (SELECT sum(weight) FROM weights),
        min(facts)::float / max(total), matched
    FROM known, hits, unnest(matched) AS number JOIN weights USING (number)
    GROUP BY id, matched ORDER BY score DESC, id LIMIT %s
"""


@dataclass(frozen=True)
class Word:
    """A word of the message, and every lexeme under which a fact may have it."""

    text: str
    lexemes: tuple[str, ...]


@dataclass(frozen=True)
class Match:
    """`covered` is the share of the message's weight that the fact has; `rarest` the share of the
    readable facts that hold the rarest of its words."""

    fact_id: UUID
    score: float
    covered: float
    rarest: float
    words: tuple[str, ...]


def analyse(query: Query, owner: User) -> list[Word]:
    """The words of content, in order."""
    detected = language_config(query.language)
    values: dict[str, str | UUID] = {
        "owner": owner.pk,
        # With nothing detected English is as good a guess as any for what is no content.
        "detected": detected if detected != "simple" else "english",
        "message": query.message,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ANALYSIS, values)
        found = [Word(word, tuple({word, *stems})) for word, stems in cursor.fetchall()]
    return [word for word in found if _says_something(word.text)][:WORDS]


def search(words: list[Word], facts: QuerySet[Fact], rows: int) -> list[Match]:
    """The facts that share most with the message, the rarer a word the more it counts."""
    with connection.cursor() as cursor:
        cursor.execute(*_ranked(words, facts, rows))
        return [
            Match(fact_id, weight, weight / whole, rarest, tuple(words[n].text for n in matched))
            for fact_id, weight, whole, rarest, matched in cursor.fetchall()
        ]


def _ranked(words: list[Word], facts: QuerySet[Fact], rows: int) -> tuple[str, list[Any]]:
    matched = _MatchedWords(
        *(
            Case(When(_Matches(F("search"), _tsquery(word)), then=Value(number)))
            for number, word in enumerate(words)
        )
    )
    hits = facts.filter(_Matches(F("search"), _tsquery(*words))).annotate(matched=matched)
    hit_rows, hit_values = hits.values("pk", "matched").query.sql_with_params()
    all_rows, all_values = facts.values("pk").query.sql_with_params()
    statement = _RANKING.format(hits=hit_rows, all=all_rows, prior=PRIOR)
    return statement, [*hit_values, *all_values, len(words), rows]


def _says_something(word: str) -> bool:
    if word in NAMES_OF_THE_OWNER or word in FUNCTION_WORDS:
        return False
    return len(word) > 1 or not word.isascii()


def _tsquery(*words: Word) -> Expression:
    """Cast, not parsed: the lexemes are final, and nothing in them is an operator."""
    lexemes = dict.fromkeys(lexeme for word in words for lexeme in word.lexemes)
    quoted = ("'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'" for lexeme in lexemes)
    return Func(Value(" | ".join(quoted)), template="%(expressions)s::tsquery")


class _Matches(Func):
    template = "(%(expressions)s)"
    arg_joiner = " @@ "
    output_field = BooleanField()
    conditional = True


class _MatchedWords(Func):
    template = "array_remove(ARRAY[%(expressions)s]::int[], NULL)"
    output_field = ArrayField(IntegerField())
