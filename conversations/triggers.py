"""What keeps the index of the raw record. Its SQL is in conversations/sql."""

import pgtrigger

from agents.triggers import Runs

MESSAGE_INDEX = [
    Runs(
        "remembrancer_message_moved",
        name="message_moved",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        condition=pgtrigger.Q(old__on_branch__df=pgtrigger.F("new__on_branch"))
        | pgtrigger.Q(old__content__df=pgtrigger.F("new__content")),
    ),
]

PASSAGE_INDEX = [
    Runs(
        "remembrancer_passages_came",
        name="passages_came",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        referencing=pgtrigger.Referencing(new="came"),  # type: ignore[no-untyped-call]
    ),
    Runs(
        "remembrancer_passage_purged",
        name="passage_purged",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        condition=pgtrigger.Q(old__text__df=pgtrigger.F("new__text")),
    ),
]

# A client may say later that nothing more is to be learned; nobody takes that back.
READ_ONLY_FOR_GOOD = pgtrigger.Trigger(
    name="conversation_read_only_for_good",
    when=pgtrigger.Before,
    operation=pgtrigger.Update,
    condition=pgtrigger.Q(old__read_only=True, new__read_only=False),
    func="""
        RAISE EXCEPTION 'A conversation that is read-only stays so.'
            USING ERRCODE = 'restrict_violation';
    """,
)
