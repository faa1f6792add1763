"""Writes notes, under the conversation's lock, so that two writers never lose a word unseen.

Order of locks: the owner's switch (gate.require_on), then the conversation.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from agents.gate import require_on
from agents.models import Agent, User
from conversations import passages
from conversations.ingest import NoSuchConversation
from conversations.models import Conversation
from conversations.sketches.limits import SECTION, SECTIONS, WHOLE
from conversations.sketches.models import Sketch
from conversations.sketches.reading import sketches_in

# Takes secrets out of a text. The app that knows them sets it when it is ready, since imports run
# the other way.
redact: Callable[[str], str] = str


class TooLong(Exception):
    """Told to who writes: how much room there is."""


class Kept(Exception):
    def __init__(self) -> None:
        super().__init__(
            "The owner keeps this section, so only the owner can remove it. You can rewrite it."
        )


class Changed(Exception):
    """It is not what the writer saw; `current` is what is there now, None where nothing is."""

    def __init__(self, current: Sketch | None, why: str) -> None:
        super().__init__(why)
        self.current = current


@dataclass(frozen=True, slots=True)
class Written:
    """`sketch` None: removed. `room`: characters left in this conversation's notes."""

    sketch: Sketch | None
    room: int


def write(
    *, agent: Agent, source: str, external_id: str, key: str, text: str, seen: str = ""
) -> Written:
    """Puts the text in place of what the section held; an empty one removes it. `seen`: the version
    that this is written over, which a section that exists needs. Writing it twice is writing once.

    Raises MemoryOff, NoSuchConversation, Changed, TooLong, Kept; then nothing was written.
    """
    text = redact(text.strip())
    with transaction.atomic():
        require_on(agent.owner)
        conversation = _locked(agent, source, external_id)
        # Locked, because the owner and the sweep remove them without the conversation's lock.
        found = sketches_in(conversation).select_for_update(of=("self",))
        rows = {row.key: row for row in found}
        row = rows.pop(key, None)
        if text != (row.text if row else ""):
            _refuse_unseen(row, seen)
            if text:
                row = _stored(conversation, key, text, row, rows)
            elif row is not None:
                _remove(row)
                row = None
        taken = sum(len(one.text) for one in rows.values()) + (len(row.text) if row else 0)
    return Written(row, WHOLE - taken)


def keep(*, sketch: Sketch, kept: bool) -> bool:
    """The owner's word. Whether it was still there."""
    rows = Sketch.objects.filter(pk=sketch.pk, owner=sketch.owner_id)
    # Let go, it has its whole time again: nothing goes the moment a person touches it.
    return bool(rows.update(kept=kept, **({} if kept else {"updated_at": timezone.now()})))


def remove(*, owner: User, sketch: Sketch) -> bool:
    """By the owner, whatever is in it by now. Whether it was still there."""
    done, _ = Sketch.objects.filter(pk=sketch.pk, owner=owner).delete()
    return bool(done)


def _locked(agent: Agent, source: str, external_id: str) -> Conversation:
    rows = Conversation.objects.select_for_update(no_key=True).filter(
        owner=agent.owner, agent=agent, source=source, external_id=external_id
    )
    conversation = rows.first()
    if conversation is None:
        raise NoSuchConversation
    conversation.owner = agent.owner
    return conversation


def _refuse_unseen(row: Sketch | None, seen: str) -> None:
    if row is None and seen:
        raise Changed(None, "This section is gone. To begin it again, write it without a version.")
    if row is not None and not seen:
        raise Changed(row, "This section exists. Read it, and write it with its version.")
    if row is not None and seen != row.version:
        raise Changed(row, "This section was rewritten since you read it. Read it again.")


def _remove(row: Sketch) -> None:
    if row.kept:
        raise Kept
    row.delete()


def _stored(
    conversation: Conversation,
    key: str,
    text: str,
    row: Sketch | None,
    others: dict[str, Sketch],
) -> Sketch:
    _refuse_too_much(text, others, is_new=row is None)
    language = passages.language_of(text)
    now = timezone.now()
    if row is None:
        # One that has expired, and that no sweep has taken yet.
        Sketch.objects.filter(owner=conversation.owner, conversation=conversation, key=key).delete()
        return Sketch.objects.create(
            owner=conversation.owner,
            conversation=conversation,
            key=key,
            text=text,
            language=language,
            created_at=now,
            updated_at=now,
        )
    row.text, row.language, row.updated_at = text, language, now
    row.revision += 1
    row.save(update_fields=["text", "language", "revision", "updated_at"])
    return row


def _refuse_too_much(text: str, others: dict[str, Sketch], *, is_new: bool) -> None:
    room = WHOLE - sum(len(one.text) for one in others.values())
    if len(text) > SECTION:
        raise TooLong(
            f"This section would have {len(text):,} characters, and has room for"
            f" {min(SECTION, room):,}. Shorten it, or split it into sections."
        )
    if len(text) > room:
        raise TooLong(
            f"This section would have {len(text):,} characters, and the notes of this conversation"
            f" have room for {room:,} more ({WHOLE:,} in all). Shorten it, or empty a section that"
            " is no longer needed."
        )
    if is_new and len(others) >= SECTIONS:
        raise TooLong(
            f"The notes of a conversation have at most {SECTIONS} sections; {room:,} characters are"
            " left in these. Write into one of them, or empty one that is no longer needed."
        )
