"""The cases on file that an exchange may be about again: more than recall would show."""

import logging
from collections.abc import Iterator

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db.models import QuerySet
from pgvector.django import CosineDistance

from conversations.models import Conversation
from memory import embedding
from memory.cases.find import Known
from memory.cases.scope import cases_readable_by
from memory.models import Case
from memory.text import detect_language, language_config, words
from memory.vocabulary import State

PER_LEG = 5

logger = logging.getLogger(__name__)


def on_file(conversation: Conversation, goal: str) -> list[Known]:
    """Of any state but archived: what was rejected is not proposed in other words.

    What comes from a sensitive conversation is shown on the private route alone.
    """
    cases = cases_readable_by(conversation.agent).exclude(state=State.ARCHIVED).defer("search")
    if not conversation.sensitive:
        cases = cases.filter(conversation__sensitive=False)
    found = {case.pk: case for leg in (_by_words, _by_meaning) for case in leg(cases, goal)}
    return [Known(handle, case) for handle, case in enumerate(found.values(), start=1)]


def _by_words(cases: QuerySet[Case], goal: str) -> Iterator[Case]:
    distinct = dict.fromkeys(words(goal))
    if not distinct:
        return
    alternatives = " | ".join("'" + w.replace("\\", "").replace("'", "''") + "'" for w in distinct)
    config = language_config(detect_language(goal))
    query = SearchQuery(alternatives, config=config, search_type="raw")
    found = cases.filter(search=query).annotate(rank=SearchRank("search", query))
    yield from found.order_by("-rank", "pk")[:PER_LEG]


def _by_meaning(cases: QuerySet[Case], goal: str) -> Iterator[Case]:
    """None where the model is not in memory: loading it is the worker's business."""
    try:
        [vector] = embedding.embed([goal])
    except embedding.EmbeddingNotReady:
        return
    except Exception as error:  # whatever stops the model must not stop the reading
        logger.warning("No vectors for cases on file (%s).", type(error).__qualname__)
        return
    near = cases.filter(embeddings__model=embedding.MODEL)
    yield from near.order_by(CosineDistance("embeddings__vector", vector), "pk")[:PER_LEG]
