"""Names of files as people gave them: shown and kept, never a path on this machine."""

import unicodedata

LONGEST_NAME, LONGEST_TITLE = 255, 300
NAMELESS = "document"


def file_name(given: str) -> str:
    """The last part of a path of any system, without characters that hide or turn text around."""
    last = given.replace("\\", "/").rstrip("/ ").rsplit("/", 1)[-1]
    name = " ".join("".join(char if _is_plain(char) else " " for char in last).split())
    name = name.strip(". ") if set(name) <= {".", " "} else name
    if len(name) <= LONGEST_NAME:
        return name or NAMELESS
    stem, dot, ending = name.rpartition(".")
    kept = f"{dot}{ending}" if 0 < len(ending) <= 10 else ""
    return (stem if kept else name)[: LONGEST_NAME - len(kept)] + kept


def title_of(name: str) -> str:
    """A title until the document itself tells one: the file's name without its ending."""
    stem, dot, ending = name.rpartition(".")
    title = stem if dot and stem and len(ending) <= 10 else name
    return one_line(title.replace("_", " "))


def one_line(text: str) -> str:
    plain = "".join(char if _is_plain(char) else " " for char in text)
    return " ".join(plain.split())[:LONGEST_TITLE].strip() or NAMELESS


def _is_plain(char: str) -> bool:
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
