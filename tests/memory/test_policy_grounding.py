"""What becomes active unseen says no more than the owner did."""

from datetime import date

import pytest

from memory.policy.grounding import names_day, unsaid
from memory.vocabulary import Precision

DAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("statement", "said", "language"),
    [
        ("The user ran 10 km on Tuesday, 10 March 2026.", "I ran ten km yesterday", "en"),
        ("The user visited Anna's sister on 2026-03-10.", "I visited Anna's sister", "en"),
        ("The user did not get the job.", "I didn't get the job", "en"),
        ("Käyttäjä kävi Oslossa 10.3.2026.", "Kävin Oslossa 10.3.", "fi"),
        ("המשתמש נסע לאוסלו", "נסעתי לאוסלו", "he"),
    ],
)
def test_the_owners_own_words_may_pass(statement: str, said: str, language: str) -> None:
    assert unsaid(statement, said, said, DAY, language) == ""


@pytest.mark.parametrize(
    ("statement", "said", "language", "found"),
    [
        ("The user ran 12 km on 10 March 2026.", "I ran 10 km yesterday", "en", "12"),
        ("The user ran 10 km on 11 March 2026.", "I ran 10 km yesterday", "en", "11"),
        ("The user sold a bike.", "I bought a bike", "en", "sold"),
        ("The user met Maria.", "I met Anna", "en", "maria"),
        ("The user got the job.", "I did not get the job", "en", "not"),
        ("Käyttäjä juoksi 12 km.", "Juoksin 10 km", "fi", "12"),
        ("המשתמש לא נסע לאוסלו", "נסעתי לאוסלו", "he", "not"),
    ],
)
def test_a_misread_number_name_word_or_negation_does_not(
    statement: str, said: str, language: str, found: str
) -> None:
    assert unsaid(statement, said, said, DAY, language) == found


def test_a_not_elsewhere_in_the_message_is_about_other_things() -> None:
    said = "I bought a bike. I did not sleep."
    assert unsaid("The user bought a bike.", said, "I bought a bike", DAY, "en") == ""


@pytest.mark.parametrize(
    ("statement", "precision", "names"),
    [
        ("The user sold a bike on 10 March 2026.", "day", True),
        ("The user sold a bike on 2026-03-10.", "day", True),
        ("Käyttäjä myi pyörän 10.3.2026.", "day", True),
        ("The user sold a bike in March 2026.", "month", True),
        ("The user sold a bike in March 2026.", "day", False),
        ("The user lives in Turku.", "day", False),
    ],
)
def test_an_event_says_when(statement: str, precision: str, names: bool) -> None:
    """What lasts could pass for what happened otherwise."""
    assert names_day(statement, DAY, Precision(precision)) == names
    assert not names_day(statement, None, Precision(precision))
