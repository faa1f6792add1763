"""The numbers that recall turns on. The setting RECALL overrides any of them by name.

Measured on LoCoMo with the packaged MiniLM: fitted on two conversations, reported on the other
eight; gates also on PrecisionMemBench. docs/benchmarks.md has the figures. The weights are flat:
half or half more of any one changes recall@5 by at most 0.7.
"""

from dataclasses import dataclass, field

from django.conf import settings

from memory.vocabulary import Kind


@dataclass(frozen=True)
class Tuning:
    # Tokens of o200k for the whole block, and how many of them pinned facts may take.
    budget: int = 1500
    pinned_budget: int = 300
    # And excerpts of what the conversation's last summary replaced.
    quotes_budget: int = 400
    cases_budget: int = 300
    # Of the owner's rules, which ride ahead of the block and beside its budget.
    rules_budget: int = 300

    # Candidates of each leg; all are then scored by one formula. More changed no figure.
    rows_per_leg: int = 60
    # Rows read for one word; what more facts have tells little.
    rows_per_word: int = 1000

    # The score, in nats: weight of the cosine; of the words met, as a share of those asked; of
    # ln(1 + words of the statement); of each time in a fact where a time is asked for; of an
    # entity that the message names; of a period that it names.
    meaning: float = 4.8
    words: float = 8.0
    length: float = 0.7
    when: float = 1.0
    name: float = 3.0
    period: float = 1.0
    # Where nothing else is asked: more than a fact of another day can have by its words.
    period_alone: float = 12.0
    # Facts that every store is taken to have besides: a few facts say little about what is rare.
    prior: int = 20

    # A fact opens the door by its cosine alone, or by this share of the message's words together
    # with a lower one. Only if one does may others follow, which need less.
    opens_cosine: float = 0.45
    opens_cover: float = 0.30
    opens_cover_cosine: float = 0.20
    # Where that share is of one of several topics, each of which is one more chance to be wrong.
    opens_topic_cosine: float = 0.40
    follows_cosine: float = 0.30
    follows_cover: float = 0.15
    follows_cover_cosine: float = 0.10
    # Nats below the best that opened. 5 gives cleaner blocks (precision .91 for .87), 6 is the
    # loosest that tells more of LoCoMo's evidence than fusion by ranks does.
    cut: float = 6.0
    # A name proves nothing where more than this share of the facts carry it, and at least so many.
    common_name: float = 0.1
    common_name_least: int = 10
    # A date alone finds facts only where next to nothing else was asked.
    words_beside_date: int = 2

    # On the odds that a score stands for. At 90 days age alone costs 2.3 of recall@5, at 360 0.1.
    half_life_days: float = 360
    kind_weight: dict[str, float] = field(
        default_factory=lambda: {Kind.SEMANTIC: 1.0, Kind.PROCEDURAL: 0.9, Kind.EPISODIC: 0.7}
    )

    # Newest-first lists put noise into every greeting, hence off.
    recency_leg: bool = False
    recency_days: int = 7
    recency_rows: int = 10

    near_misses: int = 20


def tuning() -> Tuning:
    return Tuning(**getattr(settings, "RECALL", {}))
