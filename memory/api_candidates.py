"""The review queue over HTTP, for programs in which the owner decides. Thin: the steps are those of
memory/lifecycle. All of it takes the review scope, also reading: what waits may hold anything."""

from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.utils import timezone
from ninja import Query, Router
from pydantic import BaseModel, model_validator

from agents.audit import Actor, key_holder
from agents.auth import KeyRequest, require_scope
from agents.models import ApiKey
from agents.versions import seen_in
from conversations.schemas import Slug, Strict
from memory import embedding, lifecycle
from memory.api_facts import told
from memory.api_paging import Cursor, Limit, page_of
from memory.api_reader import Reader
from memory.api_schemas import FactOut, Reason, Time, Version, WordingIn
from memory.models import Fact
from memory.review import decided, queue
from memory.review.cards import Card, Excerpt, card
from memory.review.masking import masked
from memory.vocabulary import State

router = Router()
REVIEW = require_scope(ApiKey.Scope.REVIEW)


class Decision(StrEnum):
    CONFIRM = "confirm"
    REJECT = "reject"
    EDIT = "edit"  # confirm, with other words
    SNOOZE = "snooze"
    UNDO = "undo"  # takes back what was decided last


class CandidatesAsked(Strict):
    """`snoozed`: what sleeps instead of what waits. `after` is the `next` of the page before."""

    agent: Slug | None = None
    snoozed: bool = False
    after: Cursor | None = None
    limit: Limit = 50


class CandidateAsked(Strict):
    agent: Slug | None = None


class DecisionIn(Strict):
    """`edit` goes with the decision of that name, `until` with `snooze`, `reason` with all but
    `undo`. `version`, or the header If-Match, is what you saw: where it has changed since, a 409
    tells what is there now."""

    agent: Slug | None = None
    decision: Decision
    version: Version = ""
    edit: WordingIn | None = None
    until: Time | None = None
    reason: Reason = ""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        for name, decision in (("edit", Decision.EDIT), ("until", Decision.SNOOZE)):
            given = getattr(self, name) is not None
            if given != (self.decision == decision):
                raise ValueError(f"{name}: goes with the decision {decision}, which needs it")
        if self.until is not None and self.until <= timezone.now():
            raise ValueError("until: has passed already")
        return self


class WhyOut(BaseModel):
    """`is_warning`: it is about the text itself. `words`: those that it is about."""

    code: str
    label: str
    is_warning: bool
    words: str


class QuoteOut(BaseModel):
    """A message cut around the quote. No `quote`: it is not in the message any more."""

    message: str
    role: str
    from_owner: bool
    said_at: datetime
    before: str
    quote: str
    after: str

    @classmethod
    def of(cls, cut: Excerpt) -> Self:
        message = cut.message
        return cls(
            message=message.client_id,
            role=message.role,
            from_owner=message.from_owner,
            said_at=message.sent_at,
            before=cut.before,
            quote=cut.quote,
            after=cut.after,
        )


class ReplacedOut(BaseModel):
    id: UUID
    statement: str


class CandidateOut(FactOut):
    """`reasons`: why it waits. `warnings`: what the text does to a reader. `replaces`: active facts
    that a confirmation supersedes. `similar_to`: the nearest fact there was. Every text is data."""

    conversation: str | None
    source: str | None
    reasons: list[WhyOut]
    warnings: list[str]
    quotes: list[QuoteOut]
    replaces: list[ReplacedOut]
    similar_to: ReplacedOut | None

    @classmethod
    def of_cards(cls, cards: Sequence[Card], reader: Reader) -> list[Self]:
        """To the key of one agent nothing is told of what another heard or knows."""
        near = [shown.fact.similar_to_id for shown in cards if shown.fact.similar_to_id]
        known = set(reader.facts().filter(pk__in=near).values_list("pk", flat=True))
        return [cls._of(shown, reader, known) for shown in cards]

    @classmethod
    def _of(cls, shown: Card, reader: Reader, known: Collection[UUID]) -> Self:
        fact = shown.fact
        talk = fact.conversation
        if talk and reader.agent and talk.agent_id != reader.agent.pk:
            talk = None
        near = fact.similar_to if fact.similar_to_id in known else None
        return cls(
            **FactOut.fields_of(fact),
            conversation=talk.external_id if talk else None,
            source=talk.source if talk else None,
            reasons=[
                WhyOut(code=r.code, label=r.label, is_warning=r.is_warning, words=r.words)
                for r in shown.reasons
            ],
            warnings=shown.badges,
            quotes=[QuoteOut.of(cut) for cut in shown.excerpts],
            replaces=[_replaced(row.fact) for row in shown.replaces],
            similar_to=_replaced(near) if near and near.statement != Fact.PURGED else None,
        )


class CandidatePage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[CandidateOut]
    next: str | None


@router.get(
    "/candidates",
    auth=REVIEW,
    response=CandidatePage,
    operation_id="list_candidates",
    summary="List what waits for the owner, latest first",
)
def list_candidates(request: KeyRequest, asked: Query[CandidatesAsked]) -> CandidatePage:
    reader, now = Reader.of(request.auth, asked.agent), timezone.now()
    waits = queue.snoozed if asked.snoozed else queue.waiting
    rows = reader.facts() & waits(reader.owner, now)
    found, following = page_of(rows, "created_at", asked.after, asked.limit)
    rows = _these(reader, found)
    shown = {fact.pk: fact for fact in queue.with_details(rows, reader.heard())}
    cards = [card(shown[row.pk]) for row in found if row.pk in shown]
    return CandidatePage(items=CandidateOut.of_cards(cards, reader), next=following)


@router.get(
    "/candidates/{uuid:fact_id}",
    auth=REVIEW,
    response=CandidateOut,
    operation_id="read_candidate",
    summary="Read one candidate with what it rests on",
)
def read_candidate(
    request: KeyRequest, fact_id: UUID, asked: Query[CandidateAsked], response: HttpResponse
) -> CandidateOut:
    reader = Reader.of(request.auth, asked.agent)
    fact = reader.fact(fact_id)
    if fact.state != State.PENDING:
        raise Http404("There is no such candidate.")
    [out] = CandidateOut.of_cards([queue.one(fact, reader.heard())], reader)
    response["ETag"] = f'"{out.version}"'
    return out


@router.post(
    "/candidates/{uuid:fact_id}/decide",
    auth=REVIEW,
    response=FactOut,
    operation_id="decide_candidate",
    summary="Confirm, reject, edit or snooze a candidate, or take that back",
)
def decide(
    request: KeyRequest, fact_id: UUID, asked: DecisionIn, response: HttpResponse
) -> FactOut:
    """Answers the fact as it is then: of an edit the one with the new words. `undo` takes the fact
    that a decision answered."""
    fact = Reader.of(request.auth, asked.agent).fact(fact_id)
    seen = seen_in(request, asked.version)
    return told(_decided(fact, asked, key_holder(request.auth), seen), response)


def _decided(fact: Fact, asked: DecisionIn, actor: Actor, seen: str) -> Fact:
    """Raises what the lifecycle does: Conflict, Stale, Duplicate, AtCap."""
    known: dict[str, Any] = {"fact": fact, "actor": actor, "reason": asked.reason, "seen": seen}
    if asked.edit is not None:
        row = lifecycle.confirm_with_edit(edit=asked.edit.edit(fact), **known)
        embedding.store_at_once([row])
        return row
    if asked.until is not None:
        return lifecycle.snooze(until=asked.until, **known)
    if asked.decision == Decision.UNDO:
        return _taken_back(fact, actor, seen)
    step = lifecycle.confirm if asked.decision == Decision.CONFIRM else lifecycle.reject
    return step(**known)


def _taken_back(fact: Fact, actor: Actor, seen: str) -> Fact:
    if seen and seen != lifecycle.version(fact):
        raise lifecycle.Stale(fact)
    return decided.take_back(fact=fact, actor=actor)


def _these(reader: Reader, found: list[Fact]) -> QuerySet[Fact]:
    return reader.facts().filter(pk__in=[row.pk for row in found])


def _replaced(fact: Fact) -> ReplacedOut:
    return ReplacedOut(id=fact.pk, statement=masked(fact.statement)[0])
