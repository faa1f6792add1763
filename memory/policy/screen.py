"""The gates before the reflector: what a candidate is dropped for on its own evidence."""

from collections.abc import Callable, Sequence
from uuid import UUID

from memory.extraction.schema import Candidate
from memory.policy.echo import is_header_echo, is_recalled_echo
from memory.policy.values import (
    SPEAK_FOR_THEMSELVES,
    AddEvidence,
    Dropped,
    Passed,
    PolicyContext,
    Reinforce,
    Screened,
    WindowMessage,
)
from memory.sensitive import credentials, redact
from memory.text import contains_quote, relative_date, text_hash
from memory.vocabulary import Gate, State, Tag, Withheld

Cited = list[tuple[WindowMessage, str]]


def screen(candidate: Candidate, ctx: PolicyContext) -> Dropped | Passed:
    """The gates in the order in which an inspector would want to hear of them."""
    for gate, check in _GATES:
        detail = check(candidate, ctx)
        if detail is not None:
            return dropped(candidate, gate, detail)
    return Passed(candidate, _withheld(candidate, ctx))


def screen_batch(candidates: Sequence[Candidate], ctx: PolicyContext) -> list[Screened]:
    """One answer per candidate, in their order. What is stored or purged already is folded here."""
    seen: set[str] = set()
    answers: list[Screened] = []
    for candidate in candidates:
        answer: Screened = screen(candidate, ctx)
        if isinstance(answer, Passed):
            answer = _fold(answer, seen, ctx)
        answers.append(answer)
    return answers


def dropped(candidate: Candidate, gate: Gate, detail: str = "") -> Dropped:
    return Dropped(gate, redact(detail), redact(candidate.statement))


def cited(candidate: Candidate, ctx: PolicyContext) -> Cited:
    """The messages that the candidate cites, with its quotes; unknown handles are left out."""
    return [
        (ctx.messages[source.message], source.quote)
        for source in candidate.sources
        if source.message in ctx.messages
    ]


def owner_said(candidate: Candidate, ctx: PolicyContext) -> list[WindowMessage]:
    return [message for message, _ in cited(candidate, ctx) if message.is_owner_speech]


def reinforced_by(passed: Passed, fact: UUID, ctx: PolicyContext) -> Reinforce | Dropped:
    """Only what the owner said himself confirms a fact; his "yes" to somebody's claim does not."""
    spoken = owner_said(passed.candidate, ctx)
    if Withheld.ASSISTANT_CLAIM in passed.withheld or not spoken:
        return dropped(passed.candidate, Gate.SAME_AS_ACTIVE, "not said by the owner")
    return Reinforce(passed.candidate, fact, max(message.sent_at for message in spoken))


def _fold(passed: Passed, seen: set[str], ctx: PolicyContext) -> Screened:
    candidate, digest = passed.candidate, text_hash(passed.candidate.statement)
    if digest in seen:
        return dropped(candidate, Gate.BATCH_DUPLICATE)
    seen.add(digest)
    if ctx.is_tombstoned(candidate.statement):
        return Dropped(Gate.TOMBSTONED, "", "")  # a purged text is not kept a second time
    stored = ctx.same.get(digest)
    if stored is None:
        return passed
    if stored.state == State.REJECTED:
        return dropped(candidate, Gate.SAME_AS_REJECTED)
    if stored.state == State.PENDING:
        return AddEvidence(candidate, stored.fact)
    return reinforced_by(passed, stored.fact, ctx) if stored.state == State.ACTIVE else passed


def _withheld(candidate: Candidate, ctx: PolicyContext) -> tuple[Withheld, ...]:
    said_by_others = any(
        not message.is_owner_speech and message.kind not in SPEAK_FOR_THEMSELVES
        for message, _ in cited(candidate, ctx)
    )
    return (Withheld.ASSISTANT_CLAIM,) if said_by_others else ()


# Each check answers with a detail for the inspector where it stops the candidate, else None.
Check = Callable[[Candidate, PolicyContext], str | None]


def _holds_credential(candidate: Candidate, ctx: PolicyContext) -> str | None:
    names = (name for e in candidate.entities for name in (e.name, *e.aliases))
    texts = (candidate.statement, *(source.quote for source in candidate.sources), *names)
    return "" if any(credentials(text) for text in texts) else None


def _is_not_about_owner(candidate: Candidate, ctx: PolicyContext) -> str | None:
    return None if candidate.about_owner else ""


def _is_general_knowledge(candidate: Candidate, ctx: PolicyContext) -> str | None:
    return "" if candidate.general_knowledge else None


def _changes_nothing(candidate: Candidate, ctx: PolicyContext) -> str | None:
    return None if candidate.changes_behavior else ""


def _quote_is_missing(candidate: Candidate, ctx: PolicyContext) -> str | None:
    for source in candidate.sources:
        message = ctx.messages.get(source.message)
        if message is None:
            return f"no message {source.message} in the window"
        if not contains_quote(message.content, source.quote):
            return f"not in message {source.message}: {source.quote}"
    return None


def _lacks_confirmation(candidate: Candidate, ctx: PolicyContext) -> str | None:
    """An action counts as confirmed by the owner's own words about it, a question aside."""
    if Tag.CONFIRMED_ACTION not in candidate.tags:
        return None
    confirmed = any(
        message.is_owner_speech and not quote.rstrip().endswith(("?", "？", "؟"))
        for message, quote in cited(candidate, ctx)
    )
    return None if confirmed else ""


def _owner_did_not_say_it(candidate: Candidate, ctx: PolicyContext) -> str | None:
    """Somebody's claim counts only with the owner's answer to it. A digest or a document
    speaks for itself."""
    messages = [message for message, _ in cited(candidate, ctx)]
    if all(message.kind in SPEAK_FOR_THEMSELVES for message in messages):
        return None
    spoken = [message.handle for message in messages if message.is_owner_speech]
    if not spoken:
        return "no message of the owner's is cited"
    claims = [m for m in messages if not m.is_owner_speech and m.kind not in SPEAK_FOR_THEMSELVES]
    if claims and max(spoken) < max(claim.handle for claim in claims):
        return "the owner did not answer the claim"
    return None


def _echoes_recall(candidate: Candidate, ctx: PolicyContext) -> str | None:
    return "" if is_recalled_echo(candidate.statement, cited(candidate, ctx), ctx) else None


def _echoes_header(candidate: Candidate, ctx: PolicyContext) -> str | None:
    return "" if is_header_echo(candidate.statement, ctx.headers) else None


def _leaves_date_open(candidate: Candidate, ctx: PolicyContext) -> str | None:
    return relative_date(candidate.statement, candidate.language)


# A credential comes first: whatever else is wrong, the reason on file must say why it is redacted.
_GATES: tuple[tuple[Gate, Check], ...] = (
    (Gate.CREDENTIAL, _holds_credential),
    (Gate.NOT_ABOUT_OWNER, _is_not_about_owner),
    (Gate.GENERAL_KNOWLEDGE, _is_general_knowledge),
    (Gate.CHANGES_NOTHING, _changes_nothing),
    (Gate.QUOTE_NOT_FOUND, _quote_is_missing),
    (Gate.NO_CONFIRMATION, _lacks_confirmation),
    (Gate.NOT_OWNER_SPOKEN, _owner_did_not_say_it),
    (Gate.RECALLED_ECHO, _echoes_recall),
    (Gate.HEADER_ECHO, _echoes_header),
    (Gate.UNRESOLVED_DATE, _leaves_date_open),
)
