"""Facts and cases stand on what their conversation still says."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from agents.audit import Actor
from agents.models import User
from memory import lifecycle
from memory.cases import lifecycle as cases
from memory.models import Case, CaseSource, Evidence, Fact
from memory.vocabulary import State

BRANCH = Actor(name="policy:branch")


def on_branch_left(sender: Any, owner: User, message_ids: Sequence[UUID], **kwargs: Any) -> None:
    """Active ones all of whose evidence left the branch wait for the owner again."""
    for fact in _without_ground(owner, message_ids):
        lifecycle.unsay(fact=fact, actor=BRANCH, reason="Its messages were replaced")
    for case in _cases_without_ground(owner, message_ids):
        cases.unsay(case=case, actor=BRANCH, reason="Its messages were replaced")


def _without_ground(owner: User, message_ids: Sequence[UUID]) -> list[Fact]:
    touched = Evidence.objects.filter(owner=owner, message__in=message_ids).values("fact")
    standing = Evidence.objects.filter(owner=owner, message__on_branch=True).values("fact")
    return list(
        Fact.objects.filter(owner=owner, pk__in=touched, state=State.ACTIVE)
        .exclude(pk__in=standing)
        .select_related("owner")
        .order_by("pk")
    )


def _cases_without_ground(owner: User, message_ids: Sequence[UUID]) -> list[Case]:
    cited = CaseSource.objects.filter(owner=owner, cited=True)
    return list(
        Case.objects.filter(owner=owner, state=State.ACTIVE)
        .filter(pk__in=cited.filter(message__in=message_ids).values("case"))
        .exclude(pk__in=cited.filter(message__on_branch=True).values("case"))
        .select_related("owner")
        .order_by("pk")
    )
