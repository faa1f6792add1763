"""Rows of apps above the memory that a purge takes too. They register when they are ready."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from agents.models import User


@dataclass(frozen=True, slots=True)
class Further:
    """`all_rows`: what a purge of everything takes. `hashes_among`: the keyed hashes that stay of
    those among these rows, asked before they go."""

    all_rows: Callable[[User], Iterable[UUID]]
    hashes_among: Callable[[User, Collection[UUID]], Iterable[str]]


holders: list[Further] = []


def all_rows(owner: User) -> set[UUID]:
    return {row for holder in holders for row in holder.all_rows(owner)}


def hashes_among(owner: User, ids: Collection[UUID]) -> set[str]:
    if not ids:
        return set()
    return {digest for holder in holders for digest in holder.hashes_among(owner, ids)}
