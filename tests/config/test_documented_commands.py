"""What the README and docs tell people to type is what the commands accept."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from agents.accounts import create_owner
from agents.audit import command
from agents.models import ApiKey

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINE = re.compile(r"manage\.py ([a-z_]+)([^\n`)#;&|]*)")
# In a command, and in a body that is sent; SLUG stands for any.
AGENT = re.compile(r'(?:--agent |"agent": ")(?!SLUG)([\w-]+)')


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


@pytest.mark.django_db
def test_the_documented_agent_is_one_that_every_account_has() -> None:
    owner = create_owner(username="anna", actor=command("test"), reason="")
    there = set(owner.agents.values_list("slug", flat=True))
    named = {slug for page in PAGES for slug in AGENT.findall(page.read_text())}
    assert named == there


def test_the_page_of_the_api_tells_of_every_scope() -> None:
    told = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert set(ApiKey.Scope) <= set(told)
