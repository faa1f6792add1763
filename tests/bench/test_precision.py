from datetime import UTC, datetime

from bench.beliefs import USER, Belief, Case
from bench.precision import Result, _is_exact, _predecessors_first, _scores


def a_belief(key: str, superseded_by: str | None = None) -> Belief:
    return Belief(
        id=key,
        user=USER,
        scopes=frozenset({"domain:code"}),
        statement=key,
        name=key,
        aliases=(),
        confidence=1,
        believed_at=datetime(2026, 9, 1, tzinfo=UTC),
        pinned=False,
        superseded_by=superseded_by,
        resolved=False,
    )


def a_case(key: str, wanted: set[str] | None, needed: tuple[str, ...] = ()) -> Case:
    only = None if wanted is None else frozenset(wanted)
    return Case(key, USER, frozenset(), "?", only, frozenset(needed), frozenset({"secret"}), None)


def test_chains_are_lived_through_from_their_start() -> None:
    chain = [a_belief("new"), a_belief("old", "mid"), a_belief("mid", "new"), a_belief("other")]
    order = [belief.id for belief in _predecessors_first(chain)]
    assert order.index("old") < order.index("mid") < order.index("new")


def test_precision_and_recall_are_over_the_cases_that_expect_something() -> None:
    cases = [a_case("half", {"a", "b"}), a_case("missed", {"a"}), a_case("empty", set())]
    told = {"half": frozenset("ac"), "missed": frozenset(), "empty": frozenset()}
    scores = _scores(cases, Result(told))
    assert scores["precision"] == 0.25
    assert scores["recall"] == 0.25
    assert (scores["empty_passes"], scores["empty_cases"]) == (1, 1)
    assert (scores["exact"], scores["cases"]) == (1, 3)


def test_what_has_to_ride_along_and_what_may_not_count_for_exact() -> None:
    case = a_case("pinned", {"a"}, needed=("pin",))
    found = {"pinned": frozenset("a")}
    assert _is_exact(case, Result(found, {"pinned": frozenset({"a", "pin"})}))
    assert not _is_exact(case, Result(found, found))
    assert not _is_exact(case, Result(found, {"pinned": frozenset({"a", "pin", "secret"})}))


def test_a_case_that_only_forbids_passes_with_anything_else() -> None:
    case = a_case("isolation", None)
    assert _is_exact(case, Result({"isolation": frozenset("a")}, {"isolation": frozenset("a")}))
