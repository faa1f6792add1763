"""Vectors of cases. Derived: what is missing is found in the database and made by the worker."""

import logging
import time
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from memory import embedding
from memory.models import Case, CaseEmbedding
from memory.vocabulary import State

_AT_ONCE = 128

logger = logging.getLogger(__name__)


def missing(model: str = embedding.MODEL) -> QuerySet[Case]:
    """Cases of every owner without a vector under this model. Archived ones need none."""
    known = CaseEmbedding.objects.filter(case=OuterRef("pk"), model=model)
    return Case.objects.exclude(state=State.ARCHIVED).filter(~Exists(known))


def embed_backlog(*, seconds: float) -> int:
    """Works off what is missing for about that long. Two at it waste work and do no harm."""
    stop = time.monotonic() + seconds
    stored = 0
    while time.monotonic() < stop:
        batch = list(missing().defer("search").order_by("pk")[:_AT_ONCE])
        done = _store(batch) if batch else 0
        stored += done
        if not done:
            break
    return stored


def store(cases: Sequence[Case]) -> None:
    """At once where the model is in memory; else the sweep makes them."""
    if not cases or embedding.status() != embedding.Status.READY:
        return
    try:
        _store(cases)
    except Exception as error:
        logger.warning("No vectors for new cases (%s).", type(error).__qualname__)


def text_of(case: Case) -> str:
    """What somebody who could use it would ask about."""
    return " ".join(part for part in (case.goal, case.outcome, case.lessons) if part)


def _store(cases: Sequence[Case]) -> int:
    """Under the rows' locks, and only while they are there: no vector outlives a purged text."""
    vectors = embedding.embed_blocking([text_of(case) for case in cases])
    with transaction.atomic():
        rows = Case.objects.select_for_update(no_key=True, skip_locked=True)
        still = set(rows.filter(pk__in=[case.pk for case in cases]).values_list("pk", flat=True))
        made = [
            CaseEmbedding(owner_id=case.owner_id, case=case, model=embedding.MODEL, vector=vector)
            for case, vector in zip(cases, vectors, strict=True)
            if case.pk in still
        ]
        CaseEmbedding.objects.bulk_create(made, ignore_conflicts=True)
    return len(made)
