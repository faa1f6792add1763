"""The numbers that recall turns on. The setting RECALL overrides any of them by name."""

from dataclasses import dataclass, field

from django.conf import settings

from memory.vocabulary import Kind


@dataclass(frozen=True)
class Tuning:
    # Tokens of o200k for the whole block, and how many of them pinned facts may take.
    budget: int = 1500
    pinned_budget: int = 300

    rows_per_leg: int = 30
    # Reciprocal rank fusion as published by Cormack, Clarke and Büttcher (2009), who found 60.
    rank_offset: int = 60
    # On that scale, before decay: nothing that only one leg saw beyond rank 140.
    floor: float = 0.005
    half_life_days: float = 90
    kind_weight: dict[str, float] = field(
        default_factory=lambda: {Kind.SEMANTIC: 1.0, Kind.PROCEDURAL: 0.9, Kind.EPISODIC: 0.7}
    )

    # Least cosines, measured with MiniLM on 725 LoCoMo questions, their observations as facts. At
    # 0.40 a question put the way facts are ("where does the user live") keeps its best fact in 87%
    # of the cases, and 42% of the questions find nothing in a stranger's store. A text that does
    # not speak of the owner scores lower with everything: 93% of general requests find nothing.
    cosine_about_owner: float = 0.40
    cosine: float = 0.30
    # Full text: a fact needs this share of the message's words by weight, or one that no more than
    # this share of the facts have.
    words_covered: float = 0.35
    rare_word: float = 0.01
    # A date alone finds facts only where next to nothing else was asked.
    words_beside_date: int = 2

    # Newest-first lists put noise into every greeting, hence off.
    recency_leg: bool = False
    recency_days: int = 7
    recency_rows: int = 10

    near_misses: int = 20


def tuning() -> Tuning:
    return Tuning(**getattr(settings, "RECALL", {}))
