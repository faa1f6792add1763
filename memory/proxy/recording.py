"""Keeps what was said in a chat that passed through, for extraction."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from agents.gate import MemoryOff, require_on
from agents.models import Agent, ApiKey
from conversations import ingest, record
from conversations.models import Conversation, Message
from memory.proxy.answers import Answer
from memory.proxy.history import COMPARED, Continued, Stored, continued, names, openings
from memory.proxy.wire import ASSISTANT, Turn
from memory.recall import record as recalled
from memory.recall.service import Recall

log = logging.getLogger(__name__)

SOURCE = "proxy"
# Beyond the first question and its answer two histories that agree are one conversation.
OPENING = 2


@dataclass(frozen=True)
class Exchange:
    """What a client sent: `said` up to its newest message, which came at `asked_at`. `named` is the
    conversation's name where the client gives it one. With `kept` False nothing is stored of it."""

    key: ApiKey
    agent: Agent
    said: tuple[Turn, ...]
    asked_at: datetime
    named: str | None = None
    kept: bool = True

    @property
    def talk(self) -> recalled.Talk | None:
        """The conversation as far as it is known before the answer is."""
        if not self.kept:
            return None
        known = [self.named] if self.named else openings(self.said, str(self.key.pk))[:1]
        return recalled.Talk(self.agent, SOURCE, known[0]) if known else None


@dataclass(frozen=True)
class _Place:
    into: ingest.Into
    conversation: Conversation
    stored: Sequence[Stored]
    cut: Continued


def finish(*, exchange: Exchange, answer: Answer, told: Recall | None) -> None:
    """After the client has its answer. Never raises.

    What broke off is not kept, nor an answer where the client has several to choose from: what it
    goes on with comes with its next turn.
    """
    try:
        stored = _store(exchange, answer, told) if exchange.kept and answer.whole else None
        if told is not None:
            recalled.told(
                recall=told,
                talk=exchange.talk,
                conversation=stored,
                noted=stored is not None,
            )
    except MemoryOff:
        pass
    except (ingest.BadMessage, ingest.Refused) as error:
        log.warning("a chat was not kept (%s)", type(error).__qualname__)
    except Exception as error:  # nobody waits for it any more; its message may quote what was said
        log.error("a chat was not kept (%s)", type(error).__qualname__)


def _store(exchange: Exchange, answer: Answer, told: Recall | None) -> Conversation | None:
    """With what rode along, in one transaction: no answer is stored whose echoes nobody knows."""
    said = exchange.said
    if answer.text.strip():
        said = (*said, Turn(ASSISTANT, answer.text))
    called = [exchange.named] if exchange.named else openings(said, str(exchange.key.pk))
    if not called:
        return None
    with transaction.atomic():
        require_on(exchange.agent.owner)
        place = _place(exchange, called[0], said)
        if not exchange.named and len(called) > 1 and _only_begins_alike(place):
            place = _place(exchange, called[1], said)
        messages = _messages(exchange, place)
        if messages:
            ingest.store_messages(into=place.into, messages=messages)
        if told is not None and told.items:
            ids = [item.fact.pk for item in told.items]
            recalled.note(conversation=place.conversation, fact_ids=ids, now=timezone.now())
    return place.conversation


def _place(exchange: Exchange, name: str, said: Sequence[Turn]) -> _Place:
    """Under the conversation's lock, so that two chats at once see each other's turns."""
    into = ingest.Into(agent=exchange.agent, source=SOURCE, external_id=name, client=exchange.key)
    conversation = record.opened(into)
    stored = _stored(conversation)
    return _Place(into, conversation, stored, continued(stored, said[-COMPARED:]))


def _stored(conversation: Conversation) -> list[Stored]:
    rows = Message.objects.filter(
        conversation=conversation, on_branch=True, kind=Message.Kind.SAID
    ).order_by("-seq")
    newest = rows.values_list("client_id", "role", "content")[:COMPARED]
    return [Stored(*row) for row in reversed(newest)]


def _only_begins_alike(place: _Place) -> bool:
    taken_back = len(place.stored) > place.cut.after
    return taken_back and place.cut.after <= OPENING


def _messages(exchange: Exchange, place: _Place) -> list[ingest.Incoming]:
    cut, stored, now = place.cut, place.stored, timezone.now()
    follows = stored[cut.after - 1].client_id if cut.after else ""
    replaces = stored[cut.after].client_id if cut.after < len(stored) else ""
    messages: list[ingest.Incoming] = []
    for name, turn in zip(names(follows, replaces, cut.fresh), cut.fresh, strict=True):
        messages.append(
            ingest.Incoming(
                client_id=name,
                role=Message.Role(turn.role),
                content=turn.text,
                sent_at=now if turn is cut.fresh[-1] else exchange.asked_at,
                parent=follows or None,
                replaces=replaces or None,
            )
        )
        follows, replaces = name, ""
    return messages
