"""What an assistant asks to have remembered or corrected. It asks; policy and the owner decide."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from agents.audit import Actor, key_holder
from agents.gate import require_on
from agents.models import Agent, ApiKey
from conversations.models import Message
from memory import embedding, lifecycle
from memory.cited import Citation
from memory.extraction.neighbours import FORGOTTEN, STATES, near
from memory.extraction.schema import MAX_STATEMENT
from memory.lifecycle import Draft, Source
from memory.models import Fact
from memory.policy import PolicyContext, WindowMessage, remember_state
from memory.policy.echo import is_recalled_echo
from memory.policy.grounding import mostly_said, unsaid
from memory.policy.resolve import NEAR
from memory.recall import record
from memory.scope import facts_readable_by
from memory.sensitive import credentials
from memory.text import contains_quote, detect_language, language_config, relative_date, text_hash
from memory.vocabulary import ArchivedReason, Gate, Kind, Origin, State, Tag, Withheld

LEAST = 3  # characters of a statement
# Of what recall told a conversation: older statements have scrolled away.
RECALLED = 500
_REPLACED = Q(
    state=State.ARCHIVED, archived_reason__in=[ArchivedReason.SUPERSEDED, ArchivedReason.MERGED]
)


class Outcome(StrEnum):
    ACTIVE = "active"  # may be told from now on
    PENDING = "pending"  # waits for the owner
    CONFIRMED = "confirmed"  # was known, and the owner has said it again
    KNOWN = "known"  # was known or waiting already; nothing changed but perhaps its evidence
    REFUSED = "refused"  # not stored, see the gate


@dataclass(frozen=True, slots=True)
class Remembered:
    """`fact` is the one that was born or that says it already; none where it was refused.
    `withheld` is why it waits, `detail` what of the text a gate or reason points at."""

    outcome: Outcome
    fact: Fact | None = None
    withheld: tuple[Withheld, ...] = ()
    gate: Gate | None = None
    detail: str = ""


class BadStatement(ValueError):
    """The message says what to write instead."""


class NoSuchFact(Exception):
    """Missing, somebody else's, or out of the agent's sight: all alike."""

    def __init__(self) -> None:
        super().__init__("There is no such fact for this agent.")


def remember(
    *,
    agent: Agent,
    client: ApiKey,
    statement: str,
    kind: Kind = Kind.SEMANTIC,
    cited: Citation | None = None,
    tags: Sequence[Tag] = (),
) -> Remembered:
    """Active at once only where the agent's cited message is the owner's own, holds the quote
    outside of pasted text and says what the statement says, nothing is sensitive and nothing known
    is close to it. All else waits for the owner, and nothing is stored twice.

    Raises MemoryOff, BadStatement, and lifecycle.NotAllowed for a read-only conversation.
    """
    asked = _Asked.of(agent, client, statement, kind, cited, tags)
    if gate := asked.gate():
        return gate
    withheld, details = asked.reasons()
    draft = asked.compared(asked.draft(withheld, details))
    state = State.PENDING if draft.withheld_for else State.ACTIVE
    return asked.put(draft, state, reinforces=_is_owners_word(withheld))


def propose(
    *,
    agent: Agent,
    client: ApiKey,
    statement: str,
    kind: Kind | None = None,
    targets: Sequence[Fact] = (),
    cited: Citation | None = None,
    tags: Sequence[Tag] = (),
) -> Remembered:
    """A candidate, which always waits. With targets it is their correction and keeps their scope
    and kind; `fact_for` finds one that the agent may read.

    Raises as `remember`, and lifecycle.NotAllowed for targets of several scopes.
    """
    kind = kind or (Kind(targets[0].kind) if targets else Kind.SEMANTIC)
    asked = _Asked.of(agent, client, statement, kind, cited, tags)
    if any(text_hash(asked.statement) == target.text_hash for target in targets):
        raise BadStatement("statement: is what that fact says already.")
    if gate := asked.gate():
        return gate
    withheld, details = asked.reasons()
    if targets:
        draft = asked.draft((Withheld.CORRECTION, *withheld), details)
    else:
        draft = asked.compared(asked.draft(withheld, details))
    return asked.put(draft, State.PENDING, targets=targets)


def fact_for(agent: Agent, fact_id: UUID) -> Fact:
    """An active fact, or one whose place another took since the agent was told it: the correction
    then is of that one. Raises NoSuchFact."""
    rows = facts_readable_by(agent).filter(Q(state=State.ACTIVE) | _REPLACED)
    fact = rows.filter(pk=fact_id).select_related("owner", "agent").first()
    if fact is None:
        raise NoSuchFact
    return fact


@dataclass(frozen=True, slots=True)
class _Asked:
    agent: Agent
    client: ApiKey
    statement: str
    kind: Kind
    cited: Citation | None
    tags: tuple[Tag, ...]
    language: str

    @classmethod
    def of(
        cls,
        agent: Agent,
        client: ApiKey,
        statement: str,
        kind: Kind,
        cited: Citation | None,
        tags: Sequence[Tag],
    ) -> "_Asked":
        if client.owner_id != agent.owner_id or client.agent_id not in {None, agent.pk}:
            raise lifecycle.NotAllowed("This key does not speak for that agent.")
        if cited is not None and cited.conversation.agent_id != agent.pk:
            raise lifecycle.NotAllowed("That conversation belongs to another agent.")
        if cited is not None and cited.conversation.read_only:
            raise lifecycle.NotAllowed("Nothing is learned from a read-only conversation.")
        require_on(agent.owner)
        text = _checked(statement)
        language = detect_language(text)
        return cls(agent, client, text, kind, cited, tuple(dict.fromkeys(tags)), language)

    @property
    def actor(self) -> Actor:
        """Never the owner's hand: what a key remembers was not looked at by anybody."""
        return Actor(name=key_holder(self.client).name)

    @property
    def message(self) -> Message | None:
        return self.cited.message if self.cited else None

    @property
    def quote(self) -> str:
        return self.cited.quote if self.cited else ""

    def gate(self) -> Remembered | None:
        if credentials(self.statement) or credentials(self.quote):
            return Remembered(Outcome.REFUSED, gate=Gate.CREDENTIAL)
        if phrase := relative_date(self.statement, self.language):
            return Remembered(Outcome.REFUSED, gate=Gate.UNRESOLVED_DATE, detail=phrase)
        return Remembered(Outcome.REFUSED, gate=Gate.RECALLED_ECHO) if self._is_echo() else None

    def _is_echo(self) -> bool:
        seen = self._seen()
        if self.cited is None or seen is None:
            return False
        told = record.statements_told(conversation=self.cited.conversation, most=RECALLED)
        context = PolicyContext(messages={}, now=timezone.now(), recalled=told)
        return is_recalled_echo(self.statement, [(seen, self.quote)], context)

    def _seen(self) -> WindowMessage | None:
        """The message as policy sees it."""
        if (row := self.message) is None:
            return None
        return WindowMessage(
            handle=1,
            role=row.role,
            from_owner=row.from_owner,
            content=row.content,
            sent_at=row.sent_at,
            kind=row.kind,  # type: ignore[arg-type]
        )

    def reasons(self) -> tuple[tuple[Withheld, ...], dict[Withheld, str]]:
        """What keeps it from being active: nothing, only for the owner's own typed words."""
        _, withheld, details = remember_state(
            self.statement, message=self._seen(), quote=self.quote or None
        )
        if self.message is None or Withheld.NOT_TYPED in withheld:
            return withheld, details
        more = self._unsaid(self.message.content)
        if not more:
            return withheld, details
        return (*withheld, Withheld.OTHER_WORDS), {**details, Withheld.OTHER_WORDS: more}

    def _unsaid(self, said: str) -> str:
        """A client may cite any word of its owner's for a statement of its own."""
        if self.language != "en" and not mostly_said(self.statement, said):
            return self.statement[:60]
        return unsaid(
            self.statement, said=said, quoted=self.quote, day=None, language=self.language
        )

    def compared(self, draft: Draft) -> Draft:
        """With the nearest known fact, where it is so near that only the owner can tell them apart.

        No model says whether it is the same, a correction, or something else.
        """
        scope = facts_readable_by(self.agent)
        known = scope.filter(Q(state__in=STATES) | FORGOTTEN)
        others = known.exclude(text_hash=text_hash(self.statement))
        found = near(others, self.statement, self.language)
        if found is None:
            blind = scope.filter(state=State.ACTIVE).exists()
            return _withheld(draft, Withheld.NOT_COMPARED) if blind else draft
        nearest = max(found, key=lambda one: one.cosine, default=None)
        if nearest is None or nearest.cosine < NEAR:
            return draft
        beside = scope.filter(pk=nearest.fact).first()
        return _withheld(replace(draft, similar_to=beside), Withheld.NEAR_DUPLICATE)

    def sources(self) -> tuple[Source, ...]:
        """Only what the owner said, and only a quote that is there, is evidence."""
        row = self.message
        if row is None or not row.from_owner or not self.quote:
            return ()
        return (Source(row, self.quote),) if contains_quote(row.content, self.quote) else ()

    def draft(self, withheld: tuple[Withheld, ...], details: dict[Withheld, str]) -> Draft:
        return Draft(
            statement=self.statement,
            kind=self.kind,
            origin=Origin.REMEMBER,
            observed_at=self.message.sent_at if self.message else timezone.now(),
            language=language_config(self.language),
            tags=self.tags,
            withheld_for=withheld,
            withheld_detail="; ".join(details.values())[:200],
            sources=self.sources(),
            conversation=self.cited.conversation if self.cited else None,
            client=self.client,
        )

    def put(
        self,
        draft: Draft,
        state: State,
        *,
        targets: Sequence[Fact] = (),
        reinforces: bool = False,
    ) -> Remembered:
        try:
            fact = lifecycle.propose(
                owner=self.agent.owner,
                agent=self.agent,
                draft=draft,
                actor=self.actor,
                state=state,
                targets=targets,
                reason=f"asked for by {self.client.name}",
            )
        except lifecycle.Tombstoned:
            return Remembered(Outcome.REFUSED, gate=Gate.TOMBSTONED)
        except lifecycle.Duplicate as duplicate:
            return self._met(duplicate.existing, draft.sources, reinforces=reinforces)
        embedding.store_at_once([fact])
        outcome = Outcome.ACTIVE if fact.state == State.ACTIVE else Outcome.PENDING
        withheld = tuple(Withheld(why) for why in fact.withheld_for)
        return Remembered(outcome, fact, withheld, detail=fact.withheld_detail)

    def _met(self, existing: Fact, sources: tuple[Source, ...], *, reinforces: bool) -> Remembered:
        """The text is there already. Decided elsewhere meanwhile: then it stays as it is."""
        if existing.state == State.REJECTED:
            return Remembered(Outcome.REFUSED, gate=Gate.SAME_AS_REJECTED)
        known = Remembered(Outcome.KNOWN, existing)
        if not sources or not reinforces:
            return known
        try:
            if existing.state == State.ACTIVE:
                row = lifecycle.reinforce(fact=existing, sources=sources, actor=self.actor)
                return Remembered(Outcome.CONFIRMED, row)
            lifecycle.add_evidence(fact=existing, sources=sources, actor=self.actor)
        except lifecycle.Conflict:
            return known
        return known


def _checked(statement: str) -> str:
    text = " ".join(statement.split())
    if not LEAST <= len(text) <= MAX_STATEMENT:
        raise BadStatement(
            f"statement: takes {LEAST} to {MAX_STATEMENT} characters; write one sentence."
        )
    return text


def _withheld(draft: Draft, why: Withheld) -> Draft:
    return replace(draft, withheld_for=(why, *draft.withheld_for))


def _is_owners_word(withheld: Sequence[Withheld]) -> bool:
    return not {Withheld.NOT_TYPED, Withheld.OTHER_WORDS} & set(withheld)
