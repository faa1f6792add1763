"""When two sentences are the same words, so that code may fold them without asking."""

from memory.text.words import words

# Nothing else is left out, neither endings nor small words: "lives" and "lived", "to Oslo" and
# "from Oslo" are two things.
_ARTICLES = {"english": frozenset(("a", "an", "the"))}


def same_words(one: str, other: str, language: str) -> bool:
    """`language` names a Postgres text search configuration, as a fact has it."""
    articles = _ARTICLES.get(language, frozenset())
    first, second = (
        [word for word in words(text) if word not in articles] for text in (one, other)
    )
    return first == second != []
