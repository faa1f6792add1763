"""What a person may do about documents that are read or could not be."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404

from agents.audit import Actor, acting
from knowledge.ingest.hints import hint
from knowledge.models import Document, DocumentPassage, DocumentText
from knowledge.vocabulary import DocumentState

_AGAIN = {
    "state": DocumentState.WAITING,
    "stage": "",
    "progress": 0,
    "progress_of": 0,
    "attempts": 0,
    "next_attempt_at": None,
    "failure": "",
    "failure_detail": "",
    "token": None,
    "busy_until": None,
}
_UNREAD = (DocumentState.FAILED, DocumentState.WAITING)


def retry(*, document: Document, actor: Actor) -> bool:
    """Goes on where a failed document stopped, and at once where it waits for its next try. False
    where there is nothing to try again. Raises Http404: it was deleted meanwhile."""
    return _one(document, _begin(_only(document).filter(state__in=_UNREAD), actor, "tried again"))


def retry_all(*, documents: QuerySet[Document], actor: Actor) -> int:
    """The failed ones among them: how many. One change of the table and one word to the worker,
    which goes on from one document to the next, however many there are."""
    return _begin(documents.filter(state=DocumentState.FAILED), actor, "tried again")


def reingest(*, document: Document, actor: Actor) -> bool:
    """Reads the original anew; the passages that are there answer until the new ones are complete.
    False where it is being read just now. Raises Http404: it was deleted meanwhile."""
    return _one(document, reingest_all(documents=_only(document), actor=actor))


def reingest_all(*, documents: QuerySet[Document], actor: Actor) -> int:
    """Those that are not being read just now: how many."""
    states = (DocumentState.READY, *_UNREAD)
    return _begin(documents.filter(state__in=states), actor, "read again", anew=True)


def _begin(rows: QuerySet[Document], actor: Actor, reason: str, *, anew: bool = False) -> int:
    with acting(actor, reason):
        # In the order in which a deletion locks them.
        locked = rows.select_related(None).select_for_update(no_key=True).order_by("pk")
        ids = list(locked.values_list("pk", flat=True))
        if not ids:
            return 0
        Document.objects.filter(pk__in=ids).update(**_AGAIN)
        if anew:
            _drop_unfinished(ids)
        hint(ids[0])
    return len(ids)


def _only(document: Document) -> QuerySet[Document]:
    return Document.objects.filter(pk=document.pk, owner=document.owner_id)


def _one(document: Document, begun: int) -> bool:
    if not begun and not _only(document).exists():
        raise Http404("There is no such document.")
    if begun:
        document.refresh_from_db()
    return bool(begun)


def drop_unfinished(document: Document) -> None:
    """Text and passages of a generation that never came to answer."""
    _drop_unfinished([document.pk])


def _drop_unfinished(documents: Sequence[UUID]) -> None:
    answers = Coalesce(F("document__generation"), 0)
    texts = DocumentText.objects.filter(document__in=documents).exclude(generation=answers)
    texts._raw_delete(texts.db)
    passages = DocumentPassage.objects.filter(document__in=documents).exclude(generation=answers)
    # The database takes terms and vectors along; Django would load them all first.
    passages._raw_delete(passages.db)
