"""Which units go together: the cheapest way to cut, over all of them. Pure."""

from dataclasses import dataclass
from itertools import accumulate
from math import inf

from knowledge.splitting.blocks import Cut

# o200k tokens of a passage, and of them those repeated from the one before where a section is cut.
MOST = 500
OVERLAP = 75
# Below this a passage says little by itself.
_ENOUGH = 250
# What a cut costs, beside a passage of half of what is enough at 0.25 and one of nothing at 1.
_COSTS = {
    Cut.GLUED: 5.0,
    Cut.INSIDE: 1.2,
    Cut.SENTENCE: 0.8,
    Cut.ITEM: 0.5,
    Cut.BLOCK: 0.3,
    Cut.SECTION: 0.0,
}
# For a section that begins within a passage.
_SECTION_WITHIN = 0.35
_PASSAGE = 0.05
# Neighbours of fewer tokens together are never parted: they would only make more to choose from.
_TINY = 25


@dataclass(frozen=True, slots=True)
class Unit:
    """`size` in tokens; `cut`: how well one may cut before it."""

    start: int
    end: int
    size: int
    cut: Cut
    headings: tuple[str, ...]


def packed(units: list[Unit]) -> list[tuple[int, int, int]]:
    """Of each passage the first unit, the first that is not repeated, and the one after its last.

    A passage has at most MOST tokens, unless one unit alone has more."""
    sums = [0, *accumulate(unit.size for unit in units)]
    overlaps = [_overlap(units, place) for place in range(len(units))]
    best, came_from = [0.0] + [inf] * len(units), [0] * (len(units) + 1)
    for begin, unit in enumerate(units):
        most = MOST - (sums[begin] - sums[overlaps[begin]])
        base = best[begin] + _PASSAGE + (_COSTS[unit.cut] if begin else 0.0)
        for end in range(begin + 1, len(units) + 1):
            size = sums[end] - sums[begin]
            if end > begin + 1:
                if size > most:
                    break
                base += _SECTION_WITHIN * (units[end - 1].cut == Cut.SECTION)
            cost = base + _shape(size)
            if cost < best[end]:
                best[end], came_from[end] = cost, begin
    return _path(sums, overlaps, came_from)


def _shape(size: int) -> float:
    return float(max(0.0, 1 - size / _ENOUGH) ** 2)


def _overlap(units: list[Unit], place: int) -> int:
    """The first unit that is repeated ahead of this one: what was said just before in the same
    section."""
    first, left = place, OVERLAP
    while first and units[first].cut != Cut.SECTION and units[first - 1].size <= left:
        first -= 1
        left -= units[first].size
    return first


def _path(sums: list[int], overlaps: list[int], came_from: list[int]) -> list[tuple[int, int, int]]:
    found, end = [], len(came_from) - 1
    while end:
        begin = came_from[end]
        fits = sums[end] - sums[overlaps[begin]] <= MOST
        found.append((overlaps[begin] if fits else begin, begin, end))
        end = begin
    return found[::-1]


def coalesced(units: list[Unit]) -> list[Unit]:
    """Tiny neighbours as one, within a section."""
    found: list[Unit] = []
    for unit in units:
        before = found[-1] if found else None
        tiny = before is not None and before.size + unit.size <= _TINY
        if before and tiny and unit.cut != Cut.SECTION:
            size = before.size + unit.size
            found[-1] = Unit(before.start, unit.end, size, before.cut, unit.headings)
        else:
            found.append(unit)
    return found
