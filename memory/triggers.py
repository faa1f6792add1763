"""The rules of a fact's life, as the database holds them. Their SQL is in memory/sql."""

import pgtrigger

from agents.triggers import Runs, audited_but_for_counters

MOVED = pgtrigger.Q(old__state__df=pgtrigger.F("new__state"))

FACT = [
    Runs(
        "remembrancer_fact_birth",
        name="fact_birth",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
    ),
    Runs(
        "remembrancer_fact_change",
        name="fact_change",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
    ),
    Runs(
        "remembrancer_fact_moved",
        name="fact_moved",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        condition=MOVED,
    ),
    Runs(
        "remembrancer_fact_settled",
        name="fact_settled",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        condition=MOVED & pgtrigger.Q(new__state="active"),
        timing=pgtrigger.Deferred,
    ),
    Runs(
        "remembrancer_facts_born",
        name="facts_born",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        referencing=pgtrigger.Referencing(new="born"),  # type: ignore[no-untyped-call]
    ),
    Runs(
        "remembrancer_fact_reindexed",
        name="fact_reindexed",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        condition=MOVED | pgtrigger.Q(old__statement__df=pgtrigger.F("new__statement")),
    ),
    Runs(
        "remembrancer_fact_told",
        name="fact_born_told",
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        condition=pgtrigger.Q(new__state__in=["pending", "active"]),
    ),
    Runs(
        "remembrancer_fact_told",
        name="fact_told",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        # An archived fact can still be purged.
        condition=MOVED | pgtrigger.Q(old__archived_reason__df=pgtrigger.F("new__archived_reason")),
    ),
]

# The terms of a fact follow its evidence too.
EVIDENCE = [
    Runs(
        "remembrancer_evidence_came",
        name="evidence_came",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        referencing=pgtrigger.Referencing(new="came"),  # type: ignore[no-untyped-call]
    ),
    Runs(
        "remembrancer_evidence_purged",
        name="evidence_purged",
        when=pgtrigger.After,
        operation=pgtrigger.Update | pgtrigger.Delete,
    ),
]

# How many facts an owner has follows their terms.
TERM = [
    Runs(
        "remembrancer_terms_came",
        name="terms_came",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        referencing=pgtrigger.Referencing(new="came"),  # type: ignore[no-untyped-call]
    ),
    Runs(
        "remembrancer_terms_went",
        name="terms_went",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Delete,
        referencing=pgtrigger.Referencing(old="went"),  # type: ignore[no-untyped-call]
    ),
]

TARGET = [
    Runs(
        "remembrancer_target",
        name="target_open",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert | pgtrigger.Update,
    ),
]

CASE = [
    Runs(
        "remembrancer_case_birth",
        name="case_birth",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
    ),
    Runs(
        "remembrancer_case_change",
        name="case_change",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
    ),
]

RULE = [
    Runs(
        "remembrancer_rule_birth",
        name="rule_birth",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
    ),
    Runs(
        "remembrancer_rule_change",
        name="rule_change",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
    ),
]

WEBHOOK = audited_but_for_counters(
    "address", "events", "enabled", "secret_number", change="change_audited"
)
