"""Rows of apps above the memory that a purge takes too. They register when they are ready."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agents.models import ApiKey, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person chose, as far as it can mean rows of other apps. `pattern` is for Postgres."""

    everything: bool = False
    client: ApiKey | None = None
    pattern: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.everything or self.client or self.pattern)


@dataclass(frozen=True, slots=True)
class Hanging:
    """What the memory keeps of such rows: candidates that rest on nothing else, the messages that
    hold their text, and those messages' conversations."""

    facts: tuple[UUID, ...] = ()
    messages: tuple[UUID, ...] = ()
    talks: tuple[UUID, ...] = ()


class Holder(Protocol):
    def chosen(self, owner: User, wish: Wish) -> Iterable[UUID]:
        """Nothing for an empty wish."""

    def titles(self, owner: User, ids: Collection[UUID]) -> Sequence[str]:
        """What those among these rows are called, for whoever decides."""

    def staying(self, owner: User, pattern: str, going: Collection[UUID]) -> Sequence[str]:
        """What stays of its rows, in sentences for whoever decides; those with the words first."""

    def hold(self, owner: User, ids: Collection[UUID]) -> None:
        """Locks those among these rows until the transaction ends."""

    def hanging(self, owner: User, ids: Collection[UUID]) -> Hanging: ...

    def hashes_among(self, owner: User, ids: Collection[UUID]) -> Iterable[str]:
        """The keyed hashes that stay of them, asked before they go."""


holders: list[Holder] = []


def chosen(owner: User, wish: Wish) -> set[UUID]:
    if wish.is_empty:
        return set()
    return {row for holder in holders for row in holder.chosen(owner, wish)}


def titles(owner: User, ids: Collection[UUID]) -> list[str]:
    return [title for holder in holders for title in holder.titles(owner, ids)] if ids else []


def staying(owner: User, pattern: str, going: Collection[UUID]) -> list[str]:
    return [line for holder in holders for line in holder.staying(owner, pattern, going)]


def hold(owner: User, ids: Collection[UUID]) -> None:
    if ids:
        for holder in holders:
            holder.hold(owner, ids)


def hanging(owner: User, ids: Collection[UUID]) -> Hanging:
    found = [holder.hanging(owner, ids) for holder in holders] if ids else []
    return Hanging(
        facts=tuple(row for one in found for row in one.facts),
        messages=tuple(row for one in found for row in one.messages),
        talks=tuple(row for one in found for row in one.talks),
    )


def hashes_among(owner: User, ids: Collection[UUID]) -> set[str]:
    if not ids:
        return set()
    return {digest for holder in holders for digest in holder.hashes_among(owner, ids)}
