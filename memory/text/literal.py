"""When two sentences are the same words, so that code may fold them without asking."""

from memory.text.words import words

# Nothing else is left out, neither endings nor small words: "lives" and "lived", "to Oslo" and
# "from Oslo" are two things.
_ARTICLES = {"english": frozenset(("a", "an", "the"))}


def telling_words(text: str, language: str) -> tuple[str, ...]:
    """`language` names a Postgres text search configuration, as a fact has it."""
    articles = _ARTICLES.get(language, frozenset())
    return tuple(word for word in words(text) if word not in articles)


def same_words(one: str, other: str, language: str) -> bool:
    first = telling_words(one, language)
    return bool(first) and first == telling_words(other, language)
