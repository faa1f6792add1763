"""A document that takes long makes room, so that others are read beside it."""

from knowledge.ingest.rooms import PATIENCE, Rooms


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_long_reading_keeps_nobody_waiting() -> None:
    clock = Clock()
    rooms = Rooms(1, aside=1, clock=clock)
    endless = rooms.enter()
    assert endless is not None
    clock.now = PATIENCE - 1
    assert rooms.enter() is None
    clock.now = PATIENCE
    other = rooms.enter()
    assert other is not None
    assert rooms.enter() is None
    rooms.leave(other)
    third = rooms.enter()
    assert third is not None


def test_no_more_than_so_many_step_aside_and_their_places_come_back() -> None:
    clock = Clock()
    rooms = Rooms(2, aside=1, clock=clock)
    first, second = rooms.enter(), rooms.enter()
    clock.now = 2 * PATIENCE
    third = rooms.enter()
    assert None not in (first, second, third)
    clock.now = 9 * PATIENCE
    assert rooms.enter() is None
    rooms.leave(first)
    assert rooms.enter() is not None
    for place in (second, third):
        rooms.leave(place)
    assert rooms.enter() is not None
