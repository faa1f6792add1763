"""What a person may do about a document that is read or could not be."""

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


def retry(*, document: Document, actor: Actor) -> bool:
    """Goes on where a failed document stopped, and at once where it waits for its next try. False
    where there is nothing to try again."""
    return _begin(document, actor, "tried again", (DocumentState.FAILED, DocumentState.WAITING))


def reingest(*, document: Document, actor: Actor) -> bool:
    """Reads the original anew; the passages that are there answer until the new ones are complete.
    False where it is being read just now."""
    states = (DocumentState.READY, DocumentState.FAILED, DocumentState.WAITING)
    return _begin(document, actor, "read again", states, anew=True)


def _begin(
    document: Document,
    actor: Actor,
    reason: str,
    states: tuple[DocumentState, ...],
    *,
    anew: bool = False,
) -> bool:
    with acting(actor, reason):
        rows = Document.objects.filter(pk=document.pk, owner=document.owner_id, state__in=states)
        if rows.update(**_AGAIN) != 1:
            return False
        document.refresh_from_db()
        if anew:
            drop_unfinished(document)
        hint(document)
    return True


def drop_unfinished(document: Document) -> None:
    """Text and passages of a generation that never came to answer."""
    owned = {"document": document, "owner": document.owner_id}
    DocumentText.objects.filter(**owned).exclude(generation=document.generation or 0).delete()
    passages = DocumentPassage.objects.filter(**owned)
    # The database takes terms and vectors along; Django would load them all first.
    passages.exclude(generation=document.generation or 0)._raw_delete(passages.db)
