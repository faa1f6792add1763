"""The bench of plans explains what recall and the pages ask, as they ask it."""

import pytest
from django.db import transaction

from agents.models import Agent
from bench.recall_plans import captured, explained
from memory.recall.service import recall
from tests.memory.recalling import known, model

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]


def test_each_query_of_a_recall_is_explained(agent: Agent) -> None:
    known(agent, "The user drives a red Volvo.", "The user is allergic to peanuts.")
    with transaction.atomic():
        queries = captured(
            "recall", lambda: recall(agent=agent, message="Which car did I drive in March 2026?")
        )
    plans = [explained(query) for query in queries]
    assert len(plans) >= 5
    scans = " ".join(scan for plan in plans for scan in plan["scans"])
    for table in ("memory_factembedding", "memory_factterm", "memory_fact"):
        assert table in scans
    assert all(plan["ms"] >= 0 and "Scan" in plan["text"] for plan in plans)
