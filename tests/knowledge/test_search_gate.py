"""What of a document bears on a question at all."""

from uuid import UUID

import pytest

from agents.models import Agent
from knowledge import indexing
from knowledge.models import DocumentEmbedding
from knowledge.search import search_kb
from knowledge.search.scoring import Match
from tests.knowledge.shelves import document, shelf
from tests.memory.recalling import model

__all__ = ["model"]


@pytest.mark.parametrize(
    ("cosine", "words", "share", "opens"),
    [
        # Meaning alone.
        (0.25, 0, 0.0, True),
        (0.249, 0, 0.0, False),
        (-0.3, 0, 0.0, False),
        # Two words that make enough of the question.
        (None, 2, 0.15, True),
        (None, 2, 0.149, False),
        (None, 1, 0.15, False),
        (0.249, 2, 0.15, True),
        (0.249, 2, 0.149, False),
        # One word that makes half of it.
        (None, 1, 0.5, True),
        (None, 1, 0.49, False),
        (0.249, 1, 0.5, True),
        (0.249, 1, 0.49, False),
        (None, 0, 0.0, False),
    ],
)
def test_what_a_passage_needs_to_be_found(
    cosine: float | None, words: int, share: float, opens: bool
) -> None:
    assert Match(UUID(int=1), cosine, words, share, lexical=share).opens == opens


@pytest.mark.django_db
def test_a_question_far_from_everything_finds_nothing(agent: Agent, model: None) -> None:
    papers = shelf(agent.owner)
    for title, text in (
        ("Kilns", "Fire the porcelain kiln slowly, or its glaze cracks."),
        ("Boats", "The dinghy lies upside down in the boathouse all winter."),
        ("Bees", "Beehives need a windbreak of hazel on their northern side."),
    ):
        document(papers, title, text, language="english")
    indexing.embed_backlog(seconds=60)
    assert DocumentEmbedding.objects.count() == 3
    assert search_kb(agent, "Who won the chess championship of 1972?") == []
    told = search_kb(agent, "Where is the rowing boat kept when it is cold?")
    assert [one.document.title for one in told] == ["Boats"]
