"""The rules of a fact's life, as the database holds them. Their SQL is in memory/sql."""

import pgtrigger

from agents.triggers import Runs

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
]

TARGET = [
    Runs(
        "remembrancer_target",
        name="target_open",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert | pgtrigger.Update,
    ),
]
