"""What the README and docs tell people to type is what the commands accept."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINE = re.compile(r"manage\.py ([a-z_]+)([^\n`)#;&|]*)")


def typed() -> list[tuple[str, str, str]]:
    found = [
        (page.name, name, rest.strip())
        for page in PAGES
        for name, rest in LINE.findall(page.read_text())
    ]
    return sorted(set(found))


def test_there_are_commands_to_look_at() -> None:
    assert {"import_conversations", "apikey", "backup"} <= {name for _, name, _ in typed()}


@pytest.mark.parametrize(("page", "name", "rest"), typed())
def test_a_documented_command_is_accepted(page: str, name: str, rest: str) -> None:
    command = load_command_class(get_commands()[name], name)
    parser = command.create_parser("manage.py", name)
    arguments = shlex.split(re.sub(r"[\[\]]", "", rest))  # brackets: may be left out
    if arguments:
        parser.parse_args(arguments)
