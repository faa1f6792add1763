"""Facts that say the same become one: the same words at once, other words by the owner's word.

The model only proposes a text, and a guard looks at it. The proposal waits as a correction of the
whole group, so that nothing changes until it is confirmed; it is then as old as its oldest member.
What the model may not be asked about, or answers badly, is offered for merging by hand.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from agents.audit import POLICY, Actor
from agents.models import User
from memory import lifecycle, llm
from memory.consolidation.ask import PROMPT, MergeReply, ask, is_sensitive, route_for
from memory.consolidation.guard import refusal
from memory.consolidation.journal import Journal, carry_out, journal_of, taken_back
from memory.consolidation.near import Group, free, groups
from memory.consolidation.twins import twins
from memory.consolidation.values import Change
from memory.extraction.lease import leased, renew
from memory.lifecycle import Draft, LifecycleError, Source
from memory.models import ConsolidationChange, ConsolidationSchedule, Evidence, Fact
from memory.scope import facts_of
from memory.vocabulary import Kind, Origin, Precision, State, Tag, Withheld

STAGE = "merge"
FOLD, PROPOSE, OFFER, APART, GROUP = "fold", "propose", "offer", "keep_apart", "group"
# Facts looked at in one run; the next one goes on behind them, and starts anew at the end.
LOOKED_AT = 200
# Of proposals and of offers: in one run, and waiting at a time, so that neither floods the owner.
PER_RUN, WAITING = 3, 10
OPEN_FOR = timedelta(days=30)

SAME_WORDS = "Two facts in the same words; the older one has the evidence of both."
SAME_SENSE = "They seem to say the same: one sentence for all of them waits for you."
NOT_SAME = "They are near each other, but do not say the same."
NO_MODEL = "They seem to say the same. No language model is configured that could word it for you."
NO_PRIVATE = "They seem to say the same. Some came from a sensitive conversation, and no private language model is configured."  # noqa: E501
REFUSED = "They seem to say the same, but {}."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """Raises LlmError when the model fails; what was done before it stands, and the rest waits."""
    same_words = taken_back(owner, STAGE)
    facts = facts_of(owner).filter(state=State.ACTIVE)
    planned = [
        Change(STAGE, FOLD, SAME_WORDS, facts=(newer,), sources=(older,), archives=1)
        for older, newer in twins(facts, {})
        if frozenset((newer,)) not in same_words
    ]
    folded = resume(owner=owner, now=now, planned=planned, dry_run=dry_run)
    return folded + _other_words(owner, now, dry_run)


def resume(
    *, owner: User, now: datetime, planned: list[Change], dry_run: bool = False
) -> list[Change]:
    """Folds what was planned, as far as it still holds."""

    def do(change: Change) -> Change:
        into = facts_of(owner).get(pk=change.sources[0])
        lifecycle.fold(
            twin=facts_of(owner).get(pk=change.facts[0]),
            into=into,
            actor=POLICY,
            reason=SAME_WORDS,
        )
        confirmed_at = into.last_confirmed_at.isoformat()
        return Change(
            STAGE,
            FOLD,
            SAME_WORDS,
            facts=change.facts,
            sources=change.sources,
            archives=1,
            detail={"confirmed_at": confirmed_at},
        )

    return carry_out(
        owner=owner, now=now, planned=planned, still=lambda _: True, do=do, dry_run=dry_run
    )


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """Raises LifecycleError. An offer or a proposal that was taken back is not made again."""
    if change.action == FOLD:
        lifecycle.unfold(
            twin=facts_of(change.owner).get(pk=change.facts[0]),
            confirmed_at=datetime.fromisoformat(change.detail["confirmed_at"]),
            actor=actor,
            reason="consolidation undone",
        )
    elif change.action == PROPOSE:
        proposal = facts_of(change.owner).get(pk=change.facts[0])
        lifecycle.reject(fact=proposal, actor=actor, reason="consolidation undone")


def _other_words(owner: User, now: datetime, dry_run: bool) -> list[Change]:
    journal = journal_of(owner, now)
    before = len(journal.noted)
    if dry_run:
        found, _ = _next_groups(owner)
        room = _room(owner, now)
        shown = [g for g in found if room[OFFER if route_for(g) is None else PROPOSE] > 0]
        return [_change(GROUP, SAME_SENSE, group) for group in shown[:PER_RUN]]
    with leased(owner):
        found, mark = _next_groups(owner)
        left = _take_up(journal, found)
        if left is not None:  # the next run begins where this one stopped
            mark = _before(left)
        ConsolidationSchedule.objects.update_or_create(owner=owner, defaults={"merged_up_to": mark})
    return journal.noted[before:]


def _next_groups(owner: User) -> tuple[list[Group], UUID | None]:
    """Groups that nobody has been asked about, and the fact up to which was looked."""
    schedule = ConsolidationSchedule.objects.filter(owner=owner).first()
    facts = free(owner).select_related("agent", "conversation").order_by("pk")
    if schedule is not None and schedule.merged_up_to is not None:
        facts = facts.filter(pk__gt=schedule.merged_up_to)
    seeds = list(facts[:LOOKED_AT])
    changes = ConsolidationChange.objects.filter(owner=owner, stage=STAGE).exclude(action=FOLD)
    known = [frozenset(sources) for sources in changes.values_list("sources", flat=True)]
    found = [
        group
        for group in groups(owner, seeds)
        if not any(set(group.ids) <= asked for asked in known)
    ]
    return found, seeds[-1].pk if len(seeds) == LOOKED_AT else None


def _before(group: Group) -> UUID:
    """Just below the first of its members, so that it is met again."""
    return UUID(int=min(pk.int for pk in group.ids) - 1)


def _take_up(journal: Journal, found: Sequence[Group]) -> Group | None:
    """The first group that the model could have been asked about on another day. Raises LlmError.

    Without a model the offers that wait say enough; others follow when the turn comes round.
    """
    room = _room(journal.owner, journal.now)
    for group in found:
        route = route_for(group)
        if route is not None and room[PROPOSE] <= 0:
            return group
        if route is not None or room[OFFER] > 0:
            action = _ask_or_offer(journal, group, route)
            room[action] = room.get(action, 0) - 1
    return None


def _room(owner: User, now: datetime) -> dict[str, int]:
    """How many more proposals and offers may be made today."""
    proposals = facts_of(owner).filter(state=State.PENDING, origin=Origin.MERGE).count()
    offers = ConsolidationChange.objects.filter(
        owner=owner, stage=STAGE, action=OFFER, undone_at__isnull=True, at__gt=now - OPEN_FOR
    ).count()
    return {
        PROPOSE: min(PER_RUN, WAITING - proposals),
        OFFER: min(PER_RUN, WAITING - offers),
    }


def _ask_or_offer(journal: Journal, group: Group, route: llm.Route | None) -> str:
    if route is None:
        return _note(journal, OFFER, NO_PRIVATE if is_sensitive(group) else NO_MODEL, group)
    with leased(journal.owner) as lease:
        renew(lease)
    try:
        reply = journal.count(lambda: ask(group, route))
    except llm.LlmBadReply:
        return _note(journal, OFFER, REFUSED.format("the model gave no usable text"), group)
    if not reply.same or not reply.statement:
        return _note(journal, APART, NOT_SAME, group)
    why_not = refusal(reply.statement, [fact.statement for fact in group.members])
    if why_not:
        return _note(journal, OFFER, REFUSED.format(why_not), group)
    try:
        return _propose(journal, group, reply)
    except LifecycleError:  # rejected or purged before, or decided over meanwhile
        return _note(journal, APART, "The text that would stand for them may not be stored.", group)


def _propose(journal: Journal, group: Group, reply: MergeReply) -> str:
    with journal.step(SAME_SENSE):
        if not _still(group):
            return APART
        proposal = lifecycle.propose(
            owner=journal.owner,
            agent=group.members[0].agent,
            draft=_draft(group, reply.statement),
            actor=POLICY,
            targets=group.members,
            reason=SAME_SENSE,
        )
        journal.note(_change(PROPOSE, SAME_SENSE, group, proposal))
    return PROPOSE


def _note(journal: Journal, action: str, why: str, group: Group) -> str:
    with journal.step(why):
        if _still(group):
            journal.note(_change(action, why, group))
    return action


def _still(group: Group) -> bool:
    owner = group.members[0].owner
    return free(owner).filter(pk__in=group.ids).count() == len(group.ids)


def _change(action: str, why: str, group: Group, proposal: Fact | None = None) -> Change:
    return Change(
        STAGE,
        action,
        why,
        facts=(proposal.pk,) if proposal else (),
        sources=group.ids,
        reversible=action in (PROPOSE, OFFER),
    )


def _draft(group: Group, statement: str) -> Draft:
    """As weak as the weakest and as old as the oldest, so that nothing is made fresh by merging."""
    members = group.members
    first = members[0]
    dated = next((fact for fact in members if fact.valid_from), first)
    evidence = Evidence.objects.filter(fact__in=group.ids).select_related("message")
    return Draft(
        statement=statement,
        kind=Kind(first.kind),
        origin=Origin.MERGE,
        observed_at=min(fact.observed_at for fact in members),
        confidence=min(fact.confidence for fact in members),
        language=first.language,
        tags=tuple(dict.fromkeys(Tag(tag) for fact in members for tag in fact.tags)),
        valid_from=dated.valid_from,
        valid_until=first.valid_until,
        valid_precision=Precision(dated.valid_precision),
        pinned=any(fact.pinned for fact in members),
        withheld_for=(Withheld.CORRECTION,),
        sources=tuple(Source(row.message, row.quote) for row in evidence),
        prompt_version=PROMPT,
    )
