"""The transitions of a case: the only writer of its state.

As those of a fact: one transaction each, serialised with all of the owner's, guarded by the state
and revision it starts from, told to the audit trail; the database refuses the rest.
"""

from typing import Any

from django.db.models import Q, QuerySet

from agents.audit import Actor, acting
from agents.gate import require_on
from agents.models import Agent, User
from memory.cases.values import CaseConflict, CaseDraft, SameCase
from memory.lifecycle.returns import barred
from memory.lifecycle.rows import need_person, need_some_person, transition
from memory.lifecycle.values import NotAllowed, Tombstoned
from memory.models import Case, CaseSource
from memory.text.normal import text_hash
from memory.vocabulary import CaseArchivedReason, State, Withheld

LIVE = (State.PENDING, State.ACTIVE)


def hash_of(goal: str, outcome: str) -> str:
    """Equal text, not equal meaning."""
    return text_hash(f"{goal}\n{outcome}")


def propose(*, draft: CaseDraft, actor: Actor, reason: str = "") -> Case:
    """A new case, pending. Raises MemoryOff, SameCase, Tombstoned."""
    owner = draft.conversation.owner
    with transition(owner, actor, reason) as now:
        require_on(owner)
        refuse_return(owner, draft)
        case = Case.objects.create(
            owner=owner,
            agent=draft.agent,
            conversation=draft.conversation,
            goal=draft.goal,
            context=draft.context,
            approach=draft.approach,
            outcome=draft.outcome,
            quality=draft.quality,
            lessons=draft.lessons,
            actors=list(draft.actors),
            tags=list(draft.tags),
            text_hash=hash_of(draft.goal, draft.outcome),
            language=draft.language,
            withheld_for=list(draft.withheld_for),
            withheld_detail=draft.withheld_detail,
            prompt_version=draft.prompt_version,
            created_at=now,
            happened_at=draft.happened_at,
        )
        _attach(case, draft)
        return case


def refuse_return(owner: User, draft: CaseDraft) -> None:
    """What a person rejected, forgot or purged does not come back by itself."""
    parts = (draft.goal, draft.context, draft.approach, draft.outcome, draft.lessons)
    if barred(owner, filter(None, parts)):
        raise Tombstoned
    known = _same(owner, draft.agent, hash_of(draft.goal, draft.outcome))
    existing = (
        known.exclude(state=State.ARCHIVED).first()
        or known.filter(archived_reason=CaseArchivedReason.FORGOTTEN).first()
    )
    if existing is not None:
        raise SameCase(existing)


def add_sources(*, case: Case, draft: CaseDraft, actor: Actor, reason: str = "") -> int:
    """The messages of another exchange that tells of it: how many are new. The text stays.

    Raises CaseConflict (no longer live), MemoryOff.
    """
    with transition(case.owner, actor, reason):
        require_on(case.owner)
        return _attach(_in_state(case, *LIVE), draft)


def confirm(*, case: Case, actor: Actor, reason: str = "", seen: int | None = None) -> Case:
    """pending → active. `seen` is the revision that the person looked at.

    Raises NotAllowed, CaseConflict.
    """
    return _decide(case, State.ACTIVE, actor, reason, seen)


def reject(*, case: Case, actor: Actor, reason: str = "", seen: int | None = None) -> Case:
    """pending → rejected: the same is not proposed again. Raises NotAllowed, CaseConflict."""
    return _decide(case, State.REJECTED, actor, reason, seen)


def reconsider(*, case: Case, actor: Actor, reason: str = "") -> Case:
    """rejected → pending. Raises NotAllowed, CaseConflict, SameCase: the same is live by now."""
    with transition(case.owner, actor, reason):
        need_person(actor, case.owner)
        row = _in_state(case, State.REJECTED)
        _refuse_twin(row)
        return _move(row, State.PENDING)


# What code may archive by itself; forgetting is for a person.
BY_CODE = {
    CaseArchivedReason.STALE: State.ACTIVE,
    CaseArchivedReason.AGED_OUT: State.PENDING,
    CaseArchivedReason.UNDONE: State.PENDING,
}


def archive(*, case: Case, why: CaseArchivedReason, actor: Actor, reason: str = "") -> Case:
    """pending or active → archived. Raises NotAllowed, CaseConflict."""
    with transition(case.owner, actor, reason):
        if why == CaseArchivedReason.FORGOTTEN:
            need_person(actor, case.owner)
            row = _in_state(case, *LIVE)
        else:
            row = _in_state(case, BY_CODE[why])
        return _move(row, State.ARCHIVED, archived_reason=why, archived_from=row.state)


def restore(*, case: Case, actor: Actor, reason: str = "") -> Case:
    """archived → the state it was archived from. Raises NotAllowed, CaseConflict, SameCase."""
    with transition(case.owner, actor, reason) as now:
        person = need_person(actor, case.owner)
        row = _in_state(case, State.ARCHIVED)
        _refuse_twin(row)
        if row.archived_from == State.PENDING:
            return _move(row, State.PENDING)
        return _move(row, State.ACTIVE, reviewer=person, reviewed_at=now)


def undo(*, case: Case, actor: Actor, reason: str = "") -> Case:
    """A confirmation is taken back: the case waits again. Raises NotAllowed, CaseConflict."""
    with transition(case.owner, actor, reason):
        need_person(actor, case.owner)
        return _move(_in_state(case, State.ACTIVE), State.PENDING)


def quarantine(*, cases: QuerySet[Case], actor: Actor, reason: str) -> int:
    """Sends active cases back to the queue, all or none; the number. Raises NotAllowed."""
    need_some_person(actor)
    with acting(actor, reason):
        found = cases.filter(state=State.ACTIVE).select_related("owner").order_by("owner", "pk")
        return sum(_send_back(case, actor, reason) for case in found)


def reinstate(*, cases: QuerySet[Case], actor: Actor, reason: str) -> int:
    """Takes a quarantine back, all or none; the number. Raises NotAllowed."""
    need_some_person(actor)
    waiting = cases.filter(state=State.PENDING, withheld_for__contains=[Withheld.QUARANTINED])
    with acting(actor, reason):
        found = list(waiting.select_related("owner").order_by("owner", "pk"))
        for case in found:
            _decide(case, State.ACTIVE, actor, reason, case.revision)
        return len(found)


def _send_back(case: Case, actor: Actor, reason: str) -> bool:
    with transition(case.owner, actor, reason):
        need_person(actor, case.owner)
        row = _fresh(case)
        if row.state != State.ACTIVE:
            return False
        _move(row, State.PENDING, withheld_for=[Withheld.QUARANTINED, *row.withheld_for])
        return True


def withdraw(*, case: Case, actor: Actor, reason: str = "") -> bool:
    """Takes back what an import brought and nobody has decided over since; whether it did.

    Raises NotAllowed.
    """
    with transition(case.owner, actor, reason):
        need_person(actor, case.owner)
        row = _fresh(case)
        if row.state == State.ARCHIVED or row.revision != case.revision:
            return False
        if row.state != State.PENDING:
            row = _move(row, State.PENDING)
        why = CaseArchivedReason.UNDONE
        _move(row, State.ARCHIVED, archived_reason=why, archived_from=State.PENDING)
        return True


def unsay(*, case: Case, actor: Actor, reason: str) -> Case:
    """active → pending because nothing it rests on stands in its conversation's branch any more."""
    with transition(case.owner, actor, reason):
        row = _fresh(case)
        return _move(row, State.PENDING) if row.state == State.ACTIVE else row


def _decide(case: Case, to: State, actor: Actor, reason: str, seen: int | None) -> Case:
    with transition(case.owner, actor, reason) as now:
        person = need_person(actor, case.owner)
        row = _in_state(case, State.PENDING)
        if seen is not None and seen != row.revision:
            raise CaseConflict(row)
        changes: dict[str, Any] = {"reviewer": person, "reviewed_at": now}
        if Withheld.QUARANTINED in row.withheld_for:
            changes["withheld_for"] = [w for w in row.withheld_for if w != Withheld.QUARANTINED]
        return _move(row, to, **changes)


def _fresh(case: Case) -> Case:
    return (
        Case.objects.select_for_update(of=("self",), no_key=True)
        .select_related("owner", "agent")
        .get(pk=case.pk, owner=case.owner_id)
    )


def _in_state(case: Case, *states: State) -> Case:
    row = _fresh(case)
    if row.state not in states:
        raise CaseConflict(row)
    return row


def _move(case: Case, to: State, **changes: Any) -> Case:
    """The guarded step: only from the state and revision that were read, or not at all."""
    changes |= {"state": to, "revision": case.revision + 1}
    if to != State.ARCHIVED:
        changes |= {"archived_reason": "", "archived_from": ""}
    if to == State.PENDING:
        changes |= {"reviewer": None, "reviewed_at": None}
    here = Case.objects.filter(pk=case.pk, state=case.state, revision=case.revision)
    if here.update(**changes) != 1:
        raise CaseConflict(Case.objects.get(pk=case.pk))
    for name, value in changes.items():
        setattr(case, name, value)
    return case


def _same(owner: User, agent: Agent, digest: str) -> QuerySet[Case]:
    """Of the agent and of the deleted ones that it stands for."""
    its = Q(agent=agent) | Q(agent__heir=agent)
    return Case.objects.filter(its, owner=owner, text_hash=digest)


def _refuse_twin(case: Case) -> None:
    twins = _same(case.owner, case.agent, case.text_hash).filter(state__in=LIVE)
    twin = twins.exclude(pk=case.pk).first()
    if twin is not None:
        raise SameCase(twin)


def _attach(case: Case, draft: CaseDraft) -> int:
    known = set(case.sources.values_list("message_id", flat=True))
    new = {message.pk: message for message in draft.sources if message.pk not in known}
    CaseSource.objects.bulk_create(
        CaseSource(owner_id=case.owner_id, case=case, message=message, cited=pk in draft.cited)
        for pk, message in new.items()
    )
    return len(new)


__all__ = [
    "LIVE",
    "NotAllowed",
    "add_sources",
    "archive",
    "confirm",
    "hash_of",
    "propose",
    "quarantine",
    "reconsider",
    "refuse_return",
    "reinstate",
    "reject",
    "restore",
    "undo",
    "unsay",
    "withdraw",
]
