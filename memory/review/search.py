"""Facts by the words in them."""

from django.contrib.postgres.search import SearchQuery
from django.db.models import QuerySet

from memory.models import Fact
from memory.text import detect_language, language_config


def matching(facts: QuerySet[Fact], words: str) -> QuerySet[Fact]:
    """The column holds plain words beside stems, so both are asked for."""
    return facts.filter(search=_query(words))


def _query(words: str) -> SearchQuery:
    query = SearchQuery(words, config="simple", search_type="websearch")
    for config in sorted({"english", language_config(detect_language(words))} - {"simple"}):
        query = query | SearchQuery(words, config=config, search_type="websearch")
    return query
