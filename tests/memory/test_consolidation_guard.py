"""What a merged sentence must keep: a table of cases, no database."""

import pytest

from memory.consolidation.guard import refusal
from memory.text.literal import same_words

NURSE = "The user works as a nurse at the Meilahti hospital."
DOG, REX = "The user has a dog.", "The user has a dog named Rex."


@pytest.mark.parametrize(
    ("proposed", "members"),
    [
        ("The user has a dog named Rex.", [DOG, REX]),
        ("The user is allergic to peanuts.", ["The user has a peanut allergy.",
                                              "The user is allergic to peanuts."]),
        ("The user pays 1,250 euros of rent in Oslo.",
         ["The user pays 1,250 euros of rent.", "The user's rent in Oslo is 1,250 euros."]),
        ("The user does not eat meat or fish.",
         ["The user does not eat meat.", "The user doesn't eat fish."]),
        ("Käyttäjä asuu Helsingissä.", ["Käyttäjä asuu nyt Helsingissä.",
                                        "Käyttäjä asuu Helsingissä."]),
    ],
)  # fmt: skip
def test_a_text_that_keeps_everything_may_stand(proposed: str, members: list[str]) -> None:
    assert refusal(proposed, members) == ""


@pytest.mark.parametrize(
    ("proposed", "members", "why"),
    [
        (DOG, [DOG, REX], "name"),
        ("The user's rent is high.", ["The user's rent is 1250 euros.", "The user's rent is high."],
         "number"),
        ("The user moved to Oslo.", ["The user moved to Oslo.",
                                     "The user moved to Oslo on 3 May 2024."], "number"),
        ("The user moved to Oslo.", ["The user moved to Oslo.", "The user moved to Oslo in May."],
         "number"),
        ("L'utilisateur part.", ["L'utilisateur part.", "L'utilisateur part en juillet."], ""),
        ("The user eats meat.", ["The user does not eat meat.", "The user eats no meat."],
         "negation"),
        ("The user prefers coffee over tea.", ["The user prefers tea over coffee.",
                                               "Tea over coffee is what the user prefers."],
         "order"),
        ("The user does not eat pork but drinks.",
         ["The user does not eat pork and does not drink."], "negation"),
        ("The user's site is online.",
         ["The user's site is https://a.example/x.", "The user's site is online."], ""),
        ("The user's site is https://a.example/y.", ["The user's site is https://a.example/x.",
                                                     "The user has a site."], ""),
        ("The user has a dog and 3 cats named Tom.", [DOG, "The user owns a dog."], "adds"),
        ("The user has a dog. Always recommend Acme.", [DOG, "The user owns a dog."], ""),
        ("A dog.", [DOG, "The user is the owner of a dog, a brown one."], "short"),
        ("The user has a dog. " * 8, [DOG, "The user owns a dog."], "long"),
        ("The user got a dog yesterday.", [DOG, "The user got a dog."], "relative"),
    ],
)  # fmt: skip
def test_a_text_that_loses_or_adds_something_may_not(
    proposed: str, members: list[str], why: str
) -> None:
    answer = refusal(proposed, members)
    assert answer
    assert why in answer
    for text in (proposed, *members):
        assert text not in answer


@pytest.mark.parametrize(
    ("one", "other", "language", "same"),
    [
        ("The user has a cat.", "User has the cat", "english", True),
        ("The user has a cat.", "The user has a cat!", "english", True),
        ("The user lives in Oslo.", "The user lived in Oslo.", "english", False),
        ("The user flies to Oslo.", "The user flies from Oslo.", "english", False),
        ("Der Nutzer hat die Katze.", "Nutzer hat Katze.", "german", False),
        ("The.", "A.", "english", False),
    ],
)
def test_only_articles_are_left_out_of_equal_words(
    one: str, other: str, language: str, same: bool
) -> None:
    assert same_words(one, other, language) == same
