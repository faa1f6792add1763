"""What a written case may become. Pure but for the rows it is given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conversations.models import Message
from memory.cases.find import WRITER, Known
from memory.cases.schema import CaseWriterReply
from memory.cases.values import CaseDraft
from memory.extraction.windows import Window
from memory.models import Case
from memory.policy.activation import sensitive_reasons
from memory.sensitive import credentials
from memory.text import language_config
from memory.vocabulary import Gate, State


@dataclass(frozen=True)
class Dropped:
    gate: Gate


@dataclass(frozen=True)
class Again:
    """It is on file and live: its messages are one more source of that."""

    case: Case
    draft: CaseDraft


Verdict = Dropped | Again | CaseDraft


def judge(reply: CaseWriterReply, part: Window, known: Sequence[Known]) -> Verdict:
    """The same gates as for facts. Nothing that passes is active: a case is a how-to, and
    instructions could hide in it."""
    if any(credentials(text) for text in reply.texts):
        return Dropped(Gate.CREDENTIAL)
    cited = [part.numbered.get(number) for number in dict.fromkeys(reply.messages)]
    messages = tuple(message for message in cited if message is not None)
    if len(messages) < len(cited):
        return Dropped(Gate.BAD_HANDLE)
    if not any(m.from_owner or m.kind == m.Kind.OUTCOME for m in messages):
        return Dropped(Gate.NOT_OWNER_SPOKEN)
    draft = _draft(reply, part, messages)
    return draft if reply.same_as is None else _again(reply.same_as, known, draft)


def _again(handle: int, known: Sequence[Known], draft: CaseDraft) -> Verdict:
    by_handle: Mapping[int, Case] = {one.handle: one.case for one in known}
    case = by_handle.get(handle)
    if case is None:
        return Dropped(Gate.BAD_HANDLE)
    if case.state == State.REJECTED:
        return Dropped(Gate.SAME_AS_REJECTED)
    return Again(case, draft)


def _draft(reply: CaseWriterReply, part: Window, messages: tuple[Message, ...]) -> CaseDraft:
    quotes = tuple(message.content for message in messages)
    reasons = list(sensitive_reasons(reply.texts, quotes=quotes))
    return CaseDraft(
        conversation=part.conversation,
        goal=reply.goal,
        context=reply.context,
        approach=reply.approach,
        outcome=reply.outcome,
        quality=reply.quality,
        lessons=reply.lessons,
        actors=tuple(dict.fromkeys(reply.actors)),
        tags=tuple(dict.fromkeys(tag.lower() for tag in reply.tags)),
        language=language_config(reply.language),
        happened_at=max(message.sent_at for message in part.messages),
        sources=part.messages,
        cited=frozenset(message.pk for message in messages),
        withheld_for=tuple(dict.fromkeys(reason for reason, _ in reasons)),
        withheld_detail="; ".join(detail for _, detail in reasons if detail)[:200],
        prompt_version=WRITER,
    )
