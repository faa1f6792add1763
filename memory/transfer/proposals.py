"""Memories that nobody approved yet: each waits for the owner, screened like a model's word."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from agents.audit import Actor, acting
from agents.gate import require_on
from agents.models import Agent, User
from conversations.models import Import
from memory import lifecycle
from memory.lifecycle import Draft
from memory.models import Fact
from memory.policy.activation import sensitive_reasons
from memory.sensitive import credentials, directive
from memory.text import detect_language, language_config
from memory.transfer.conflicts import draft_of
from memory.transfer.keepers import agents_here, keeper
from memory.transfer.lines import FORMAT, AgentLine, FactLine
from memory.transfer.lists import items_of
from memory.transfer.plan import Conflict, Left
from memory.transfer.reading import check, read
from memory.transfer.store import Result
from memory.vocabulary import Kind, Origin, State, Withheld

DECIDED = "decided over elsewhere (only a person lets these in: --approve)"


@dataclass(frozen=True)
class Proposal:
    line: int
    agent: Agent | None
    draft: Draft
    target: Fact | None = None


def propose_list(
    *,
    agent: Agent,
    path: Path,
    name: str,
    format: str,
    actor: Actor,
    written_at: datetime | None = None,
    dry_run: bool = False,
) -> Result:
    """All of a list for one agent, or nothing. What says no date was said at `written_at`.

    Raises BadFile, MemoryOff.
    """
    skipped: Counter[str] = Counter()
    items = items_of(path, format, skipped)
    now = timezone.now()
    said = min(written_at or now, now)
    drafts = (
        Proposal(item.line, agent, _draft(item.text, item.said_at or said, item.is_instruction))
        for item in items
    )
    result = _propose(agent.owner, drafts, name, format, actor, dry_run)
    result.left.update(skipped)
    return result


def propose_file(
    *,
    owner: User,
    path: Path,
    name: str,
    actor: Actor,
    conflict: Conflict = Conflict.SKIP,
    dry_run: bool = False,
) -> Result:
    """The live facts of a memory file, as candidates. Raises BadFile, MemoryOff."""
    check(path)
    result = Result()
    proposals = _of_file(owner, path, conflict, result)
    return _propose(owner, proposals, name, FORMAT, actor, dry_run, result)


def _draft(text: str, said_at: datetime, is_instruction: bool) -> Draft:
    kind = Kind.PROCEDURAL if is_instruction or directive(text) else Kind.SEMANTIC
    return Draft(
        statement=text,
        kind=kind,
        origin=Origin.IMPORT,
        observed_at=said_at,
        language=language_config(detect_language(text)),
    )


def _propose(
    owner: User,
    proposals: Iterable[Proposal],
    name: str,
    format: str,
    actor: Actor,
    dry_run: bool,
    result: Result | None = None,
) -> Result:
    result = result or Result()
    # Two blocks: taking the inner one back must leave the outer one fit to end.
    with acting(actor, f"import of {name}"), transaction.atomic():
        require_on(owner)
        imported = Import.objects.create(owner=owner, format=format, file_name=name[-255:])
        for proposal in proposals:
            _take(owner, proposal, imported, actor, result)
        imported.counts = {"new": dict(result.new), "left_out": dict(result.left)}
        imported.finished_at = timezone.now()
        imported.save(update_fields=["counts", "finished_at"])
        result.imported = imported.pk
        if dry_run or not result.new:
            transaction.set_rollback(True)
            result.imported = None
    return result


def _take(owner: User, proposal: Proposal, imported: Import, actor: Actor, result: Result) -> None:
    """Its refusal costs only itself."""
    draft = proposal.draft
    if credentials(draft.statement):
        result.left[Left.CREDENTIAL] += 1
        return
    draft = _screened(draft, imported, is_global=proposal.agent is None)
    try:
        lifecycle.propose(
            owner=owner,
            agent=proposal.agent,
            draft=draft,
            # Whoever brings them in has not looked at each.
            actor=Actor(actor.name),
            targets=[proposal.target] if proposal.target else [],
            reason=f"import {imported.pk}",
        )
    except lifecycle.Duplicate as error:
        rejected = error.existing.state == State.REJECTED
        result.left[Left.REJECTED if rejected else Left.KNOWN] += 1
    except lifecycle.Tombstoned:
        result.left[Left.BARRED] += 1
    else:
        result.new["facts"] += 1


def _screened(draft: Draft, imported: Import, *, is_global: bool) -> Draft:
    reasons = list(sensitive_reasons((draft.statement,)))
    why = [Withheld.PROCEDURAL if draft.kind == Kind.PROCEDURAL else Withheld.DURABLE]
    why = [*(reason for reason, _ in reasons), *why, Withheld.NOT_TYPED]
    if is_global:
        why.append(Withheld.GLOBAL_SCOPE)
    details = "; ".join(detail for _, detail in reasons if detail)[:200]
    return Draft(
        statement=draft.statement,
        kind=draft.kind,
        origin=Origin.IMPORT,
        observed_at=draft.observed_at,
        confidence=draft.confidence,
        language=draft.language,
        tags=draft.tags,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        valid_precision=draft.valid_precision,
        withheld_for=tuple(dict.fromkeys(why)),
        withheld_detail=details,
        imported_by=imported,
    )


def _of_file(owner: User, path: Path, conflict: Conflict, result: Result) -> Iterator[Proposal]:
    agents = agents_here(owner)
    for number, line in read(path):
        if isinstance(line, AgentLine) and line.slug not in agents:
            agents[line.slug] = Agent.objects.create(owner=owner, slug=line.slug, name=line.name)
        elif isinstance(line, FactLine) and not line.is_live:
            result.left[DECIDED] += 1
        elif isinstance(line, FactLine):
            found = _of_line(owner, number, line, agents, conflict)
            if found is None:
                result.left[Left.CONFLICT] += 1
            else:
                yield found


def _of_line(
    owner: User, number: int, line: FactLine, agents: dict[str, Agent], conflict: Conflict
) -> Proposal | None:
    """What an active fact of that id says otherwise here is a conflict."""
    here = Fact.objects.filter(owner=owner, pk=line.id, state=State.ACTIVE).first()
    target = here if here is not None and here.statement != line.statement else None
    if target is not None and conflict == Conflict.SKIP:
        return None
    return Proposal(number, keeper(line, agents), draft_of(line), target)
