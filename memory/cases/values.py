"""What the lifecycle of cases is given and the refusals it answers with."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agents.models import Agent
from conversations.models import Conversation, Message
from memory.lifecycle.values import LifecycleError
from memory.models import Case
from memory.vocabulary import Quality, State, Withheld


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A case before its birth. `language` names a Postgres text search configuration.

    `sources` are all messages that the writer saw, so that a purge of any finds the case; `cited`
    are the ids of those that prove it.
    """

    conversation: Conversation
    goal: str
    context: str
    approach: str
    outcome: str
    quality: Quality
    lessons: str
    actors: tuple[str, ...]
    tags: tuple[str, ...]
    language: str
    happened_at: datetime
    sources: tuple[Message, ...]
    cited: frozenset[UUID]
    withheld_for: tuple[Withheld, ...] = ()
    withheld_detail: str = ""
    prompt_version: str = ""

    @property
    def agent(self) -> Agent:
        """Whoever stands for a deleted assistant."""
        return self.conversation.agent.acting()


@dataclass(eq=False)
class CaseConflict(LifecycleError):
    """The case is no longer as it was seen; `case` is as it is now."""

    case: Case

    def __str__(self) -> str:
        return f"This was already decided elsewhere: the case is {_in_words(self.case)} now."


@dataclass(eq=False)
class SameCase(LifecycleError):
    """A case with the same goal and outcome is there, or was rejected or forgotten."""

    existing: Case

    def __str__(self) -> str:
        return f"The same case is already there; it is {_in_words(self.existing)}."


def _in_words(case: Case) -> str:
    if case.state == State.ARCHIVED:
        return f"archived ({case.get_archived_reason_display().lower()})"
    return case.state
