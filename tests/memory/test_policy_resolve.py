"""What becomes of a candidate after the reflector, or without one."""

from uuid import uuid4

import pytest

from memory.extraction.schema import Action
from memory.policy import (
    AddEvidence,
    Aspect,
    Create,
    Dropped,
    Neighbour,
    Reinforce,
    Supersede,
    count_gates,
    differs,
    resolve,
    without_reflector,
)
from memory.vocabulary import Gate, Kind, State, Withheld
from tests.memory.policy_cases import assistant, context, decision, known, message, passed

TEA = "The user prefers tea over coffee."


@pytest.mark.parametrize(
    ("new", "old", "aspect"),
    [
        (TEA, "The user prefers coffee over tea.", Aspect.ORDER),
        ("The rent is 1,250 euros.", "The rent is 1,350 euros.", Aspect.NUMBER),
        ("The user has 3 cats and 3 dogs.", "The user has 3 cats and 2 dogs.", Aspect.NUMBER),
        ("The user has two cats.", "The user has three cats.", Aspect.NUMBER),
        ("The user weighs 7.5 kg.", "The user weighs 75 kg.", Aspect.NUMBER),
        ("The user moved in May 2023.", "The user moved in June 2023.", Aspect.NUMBER),
        ("The user swims on Mondays.", "The user swims on Tuesdays.", Aspect.NUMBER),
        ("The user has a dog named Rex.", "The user has a dog.", Aspect.NAME),
        ("Anna is the user's sister.", "Maria is the user's sister.", Aspect.NAME),
        ("The user uses an iPhone.", "The user uses a phone.", Aspect.NAME),
        ("The user does not eat meat.", "The user eats meat.", Aspect.NEGATION),
        ("The user eats meat.", "The user does not eat meat.", Aspect.NEGATION),
        ("The user no longer works at Acme.", "The user works at Acme.", Aspect.NEGATION),
        ("The user stopped smoking.", "The user smokes.", Aspect.NEGATION),
        ("The user likes tea with milk.", "The user likes tea.", Aspect.DETAIL),
        ("Der Nutzer wohnt in Bonn.", "Der Nutzer wohnt in Köln.", Aspect.NAME),
        ("Der Nutzer isst kein Fleisch.", "Der Nutzer isst Fleisch.", Aspect.NEGATION),
        ("Der Nutzer hat zwei Katzen.", "Der Nutzer hat drei Katzen.", Aspect.NUMBER),
        ("L'utilisateur n'aime pas le thé.", "L'utilisateur aime le thé.", Aspect.NEGATION),
        ("El usuario no come carne.", "El usuario come carne.", Aspect.NEGATION),
        ("Käyttäjä ei syö lihaa.", "Käyttäjä syö lihaa.", Aspect.NEGATION),
        ("Пользователь живёт в Москве.", "Пользователь живёт в Киеве.", Aspect.NAME),
        ("Пользователь не ест мясо.", "Пользователь ест мясо.", Aspect.NEGATION),
        ("Kullanıcı et yemiyor.", "Kullanıcı et yiyor.", Aspect.NEGATION),
        ("用户住在北京", "用户住在上海", Aspect.NAME),
        ("用户不吃肉", "用户吃肉", Aspect.NEGATION),
        ("用户有三只猫", "用户有两只猫", Aspect.NUMBER),
        ("ユーザーは肉を食べない", "ユーザーは肉を食べる", Aspect.NEGATION),
        ("ユーザーは東京に住んでいる", "ユーザーは大阪に住んでいる", Aspect.NAME),
        ("사용자는 서울에 산다", "사용자는 부산에 산다", Aspect.NAME),
        ("ผู้ใช้ไม่กินเนื้อ", "ผู้ใช้กินเนื้อ", Aspect.NEGATION),
        ("المستخدم يسكن في القاهرة", "المستخدم يسكن في دبي", Aspect.NAME),
        ("المستخدم لا يأكل اللحم", "المستخدم يأكل اللحم", Aspect.NEGATION),
        ("המשתמש גר בתל אביב", "המשתמש גר בירושלים", Aspect.NAME),
        ("המשתמש לא אוכל בשר", "המשתמש אוכל בשר", Aspect.NEGATION),
        ("उपयोगकर्ता दिल्ली में रहता है", "उपयोगकर्ता मुंबई में रहता है", Aspect.NAME),
    ],
)
def test_two_statements_differ(new: str, old: str, aspect: Aspect) -> None:
    difference = differs(new, old)
    assert difference is not None
    assert difference.aspect == aspect
    assert difference.found


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The user prefers tea over coffee", TEA),
        ("The user has a dog.", "The user has a dog named Rex."),
        ("The user moved on 3 May 2023.", "The user moved on 2023-05-03."),
        ("The rent is 1250.", "The rent is 1,250 euros."),
        ("The user has 2 cats.", "The user has two cats."),
        ("The user's flat is in Berlin.", "The user lives in Berlin."),
        ("Der Nutzer wohnt in Bonn.", "Der Nutzer lebt in Bonn."),
        ("用户住在北京", "用户现在居住于北京市"),
        ("المستخدم نباتي", "المستخدم نباتي."),
    ],
)
def test_two_statements_say_the_same(new: str, old: str) -> None:
    assert differs(new, old) is None


@pytest.mark.parametrize("action", list(Action))
def test_a_handle_that_was_not_shown_drops_the_candidate(action: Action) -> None:
    answer = resolve(passed(), decision(action, 1, 9), [known("x")], context())
    assert isinstance(answer, Dropped)
    assert answer.gate == Gate.BAD_HANDLE


@pytest.mark.parametrize("action", [Action.SUPERSEDE, Action.REINFORCE, Action.SAME])
def test_an_action_on_nothing_drops_the_candidate(action: Action) -> None:
    answer = resolve(passed(), decision(action), [known("x")], context())
    assert isinstance(answer, Dropped)
    assert answer.gate == Gate.BAD_HANDLE


def test_nothing_new_is_dropped_with_the_reason() -> None:
    answer = resolve(passed(), decision(Action.SKIP, reason="small talk"), [], context())
    assert answer == Dropped(Gate.SKIPPED, "small talk", passed().candidate.statement)


def test_a_new_event_is_created_by_the_rule_of_activation() -> None:
    answer = resolve(passed(), decision(Action.CREATE), [], context())
    assert answer == Create(passed().candidate, State.ACTIVE, ())
    durable = resolve(passed(kind=Kind.SEMANTIC), decision(Action.CREATE), [], context())
    assert isinstance(durable, Create)
    assert (durable.state, durable.withheld) == (State.PENDING, (Withheld.DURABLE,))


def test_a_correction_waits_even_where_the_event_would_not() -> None:
    old, other = known("The user went to Rome.", handle=1), known("x", handle=2)
    answer = resolve(passed(), decision(Action.SUPERSEDE, 2, 1, 2), [old, other], context())
    assert answer == Supersede(passed().candidate, (other.fact, old.fact), (Withheld.CORRECTION,))


def test_a_correction_leaves_alone_what_is_not_active() -> None:
    facts = [
        known("a", State.PENDING, 1),
        known("b", State.ACTIVE, 2),
        known("c", State.REJECTED, 3),
    ]
    answer = resolve(passed(), decision(Action.SUPERSEDE, 1, 2, 3), facts, context())
    assert isinstance(answer, Supersede)
    assert answer.targets == (facts[1].fact,)


@pytest.mark.parametrize("state", [State.PENDING, State.REJECTED])
def test_what_would_replace_a_waiting_or_rejected_fact_waits_beside_it(state: State) -> None:
    old = known("The user went to Rome on 3 May 2024.", state)
    answer = resolve(passed(), decision(Action.SUPERSEDE, 1), [old], context())
    assert isinstance(answer, Create)
    assert answer.state == State.PENDING
    assert answer.withheld == (Withheld.NEAR_DUPLICATE,)
    assert answer.beside == old.fact


PARAPHRASE = "The user travelled to Oslo on 3 May 2024."


@pytest.mark.parametrize("action", [Action.REINFORCE, Action.SAME])
def test_a_restated_active_fact_is_reinforced(action: Action) -> None:
    old, ctx = known(PARAPHRASE), context()
    answer = resolve(passed(), decision(action, 1), [old], ctx)
    assert answer == Reinforce(passed().candidate, old.fact, ctx.messages[1].sent_at)


@pytest.mark.parametrize("action", [Action.REINFORCE, Action.SAME])
def test_a_restated_pending_fact_gains_evidence_and_a_rejected_one_stays_so(action: Action) -> None:
    pending = known(PARAPHRASE, State.PENDING)
    assert resolve(passed(), decision(action, 1), [pending], context()) == AddEvidence(
        passed().candidate, pending.fact
    )
    rejected = resolve(
        passed(), decision(action, 1), [known(PARAPHRASE, State.REJECTED)], context()
    )
    assert isinstance(rejected, Dropped)
    assert rejected.gate == Gate.SAME_AS_REJECTED


def test_among_several_same_facts_the_active_one_is_reinforced() -> None:
    facts = [known(PARAPHRASE, State.REJECTED, 1), known(PARAPHRASE, State.ACTIVE, 2)]
    answer = resolve(passed(), decision(Action.SAME, 1, 2), facts, context())
    assert isinstance(answer, Reinforce)
    assert answer.target == facts[1].fact


@pytest.mark.parametrize(
    ("new", "old", "found"),
    [
        ("The user prefers coffee over tea.", TEA, "order: prefers coffee over tea"),
        ("The rent is 1,350.", "The rent is 1,250.", "number: 1350"),
        ("The user has a dog named Rex.", "The user has a dog.", "name: Rex"),
        ("用户住在上海", "用户住在北京", "name: 在上海"),
    ],
)
@pytest.mark.parametrize("action", [Action.REINFORCE, Action.SAME])
def test_what_differs_is_a_correction_whatever_the_reflector_says(
    action: Action, new: str, old: str, found: str
) -> None:
    target = known(old)
    answer = resolve(passed(new, kind=Kind.SEMANTIC), decision(action, 1), [target], context())
    assert isinstance(answer, Supersede)
    assert answer.targets == (target.fact,)
    assert answer.withheld == (Withheld.CORRECTION, Withheld.DURABLE)
    assert answer.details[Withheld.CORRECTION] == found


@pytest.mark.parametrize("state", [State.PENDING, State.REJECTED])
def test_what_differs_from_a_waiting_or_rejected_fact_waits_beside_it(state: State) -> None:
    old = known("The user went to Oslo on 4 May 2024.", state)
    answer = resolve(passed(), decision(Action.SAME, 1), [old], context())
    assert isinstance(answer, Create)
    assert (answer.state, answer.beside) == (State.PENDING, old.fact)
    assert answer.details[Withheld.NEAR_DUPLICATE] == "number: 3"


def test_agreeing_with_a_claim_reinforces_nothing() -> None:
    claim = passed(sources=[(1, "a"), (2, "yes")], withheld=(Withheld.ASSISTANT_CLAIM,))
    ctx = context(assistant(1, "a"), message(2, "yes"))
    answer = resolve(claim, decision(Action.SAME, 1), [known(PARAPHRASE)], ctx)
    assert isinstance(answer, Dropped)
    assert answer.gate == Gate.SAME_AS_ACTIVE


def neighbour(statement: str, cosine: float) -> Neighbour:
    return Neighbour(uuid4(), State.ACTIVE, statement, cosine)


@pytest.mark.parametrize("cosine", [0.997, 1.0, 0.736])
def test_without_a_reflector_a_near_fact_decides_nothing_however_near(cosine: float) -> None:
    near, far = neighbour("The user prefers coffee over tea.", cosine), neighbour("x", 0.3)
    answer = without_reflector(
        passed(TEA, kind=Kind.SEMANTIC), [far, near], context(rule_based=True)
    )
    assert isinstance(answer, Create)
    assert answer.beside == near.fact
    assert answer.state == State.PENDING
    assert answer.withheld == (Withheld.NEAR_DUPLICATE, Withheld.DURABLE, Withheld.RULE_BASED)


def test_without_a_reflector_a_lonely_candidate_waits_for_being_found_by_rules() -> None:
    for neighbours in ([], [neighbour("x", 0.3)]):
        answer = without_reflector(passed(), neighbours, context(rule_based=True))
        assert answer == Create(passed().candidate, State.PENDING, (Withheld.RULE_BASED,))


def test_outcomes_are_counted_by_gate() -> None:
    old = known(PARAPHRASE)
    outcomes = [
        resolve(passed(), decision(Action.SAME, 1), [old], context()),
        resolve(passed(), decision(Action.SAME, 1), [known(PARAPHRASE, State.PENDING)], context()),
        resolve(passed(), decision(Action.CREATE), [], context()),
        resolve(passed(), decision(Action.SKIP), [], context()),
        resolve(passed(), decision(Action.SKIP), [], context()),
    ]
    assert count_gates(outcomes) == {
        Gate.SAME_AS_ACTIVE: 1,
        Gate.SAME_AS_PENDING: 1,
        Gate.SKIPPED: 2,
    }


@pytest.mark.parametrize("text", ["a" * 500, "猫" * 500, "1 " * 250, "\u0301" * 500, ""])
def test_odd_statements_differ_from_nothing_in_themselves(text: str) -> None:
    assert differs(text, text) is None
    differs(text, "The user has 3 cats."), differs("The user has 3 cats.", text)
