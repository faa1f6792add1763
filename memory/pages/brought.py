"""What an import brought, in words. Whoever brings something in counts in a way of its own: rules,
what is `new` of a memory file or a list, or conversations."""

from collections.abc import Iterable, Mapping

from agents.wording import counted
from conversations.models import Import

# In the order in which they are told, which the database does not keep.
WHAT = {
    "facts": ("fact", "facts"),
    "facts in the place of others": (
        "fact in the place of another",
        "facts in the place of others",
    ),
    "cases": ("case", "cases"),
    "rules": ("rule", "rules"),
    "conversations": ("conversation", "conversations"),
    "messages": ("message", "messages"),
    "entities": ("entity", "entities"),
    "agents": ("assistant", "assistants"),
    "tombstones": ("tombstone", "tombstones"),
}
TALK = (
    ("New", ("conversations", "messages")),
    ("On other branches", ("off_branch",)),
    ("Continued", ("continued",)),
    ("Unchanged", ("unchanged",)),
    ("Known already", ("known",)),
)
NOUNS = WHAT | {
    "off_branch": WHAT["messages"],
    "continued": WHAT["conversations"],
    "unchanged": WHAT["conversations"],
    "known": WHAT["messages"],
}


def in_short(row: Import, conversations: int) -> str:
    """Of an import that still runs, only its conversations are there to be counted."""
    if "new" in row.counts:
        return _things(row.counts["new"], WHAT) or "nothing new"
    if "rules" in row.counts:
        return counted(row.counts["rules"], "rule")
    return counted(conversations, "new conversation")


def in_full(row: Import) -> list[tuple[str, str]]:
    """Names and what there is of each, without what there is none of."""
    counts = row.counts
    if "new" in counts:
        pairs = [("New", _things(counts["new"], WHAT)), ("Left out", _reasons(counts["left_out"]))]
    elif "rules" in counts:
        left = {"rules": counts["left_out"]}
        pairs = [("New", _things(counts, ("rules",))), ("Left out", _things(left, WHAT))]
    else:
        pairs = _talk(counts)
    return [(name, value) for name, value in pairs if value]


def is_of_talk(row: Import) -> bool:
    """Whether it was to bring conversations."""
    return not {"new", "rules"} & row.counts.keys()


def _talk(counts: Mapping[str, object]) -> list[tuple[str, str]]:
    left = {"broken or refused": counts.get("left_out", 0)} | _of(counts, "skipped")
    told = [(name, _things(counts, kinds)) for name, kinds in TALK]
    return [*told, ("Left out", _reasons(left)), ("Adjusted", _reasons(_of(counts, "adjusted")))]


def _of(counts: Mapping[str, object], name: str) -> dict[str, object]:
    found = counts.get(name)
    return found if isinstance(found, dict) else {}


def _things(counts: Mapping[str, object], kinds: Iterable[str]) -> str:
    numbers = ((kind, _number(counts, kind)) for kind in kinds)
    return ", ".join(counted(number, *NOUNS[kind]) for kind, number in numbers if number)


def _reasons(counts: Mapping[str, object]) -> str:
    numbers = ((why, _number(counts, why)) for why in counts)
    return "; ".join(f"{why}: {number:,}" for why, number in numbers if number)


def _number(counts: Mapping[str, object], name: str) -> int:
    found = counts.get(name)
    return found if isinstance(found, int) else 0
