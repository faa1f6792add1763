"""What the language model is told. A changed prompt is a new file: runs and facts name theirs."""

from functools import cache
from pathlib import Path

OBSERVER = "observer-v1"
DOCUMENT = "document-v1"
REFLECTOR = "reflector-v1"


@cache
def prompt(version: str) -> str:
    return Path(__file__).with_name(f"{version}.md").read_text(encoding="utf-8")
