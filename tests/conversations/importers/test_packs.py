"""ZIP archives and folders as they come, and those that mean harm."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agents.models import User
from conversations.importers import packs
from conversations.models import Conversation, Import, Message
from tests.conversations.conftest import message
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db


def line(name: str) -> str:
    return json.dumps({"id": name, "messages": [message(1, content=f"I am {name}.")]})


def names() -> set[str]:
    return set(Conversation.objects.values_list("external_id", flat=True))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.zip"


def pack(path: Path, **files: Any) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def test_an_archive_of_several_files_is_one_import(
    sample_data: Path, path: Path, bring_in: Bring, alice: User
) -> None:
    claude = sample_data / "exports" / "claude-ai" / "claude_thinking_example.json"
    files = {
        "data/conversations.json": claude.read_bytes(),
        "data/more.jsonl": line("c1"),
        "data/users.json": '[{"uuid": "x", "full_name": "Ann"}]',
        "chat.html": "<html>",
        "__MACOSX/data/._conversations.json": "junk",
        "empty.json": "",
    }
    pack(path, **files)
    told = bring_in(path)
    assert told.code == 3
    assert told.err == "Could not be read: export.zip/empty.json is empty\n"
    said = "Left out: export.zip/data/users.json, which is in none of the formats I know: 1."
    assert said in told.out
    assert "Left out: files of another kind (.html): 1." in told.out
    assert set(Conversation.objects.values_list("source", flat=True)) == {"claude-ai", "jsonl"}
    assert (Import.objects.get().file_name, Import.objects.get().format) == (
        "export.zip",
        "several",
    )
    assert ": 0 messages." in bring_in(path).out


def test_a_folder_with_archives_in_it(tmp_path: Path, bring_in: Bring, alice: User) -> None:
    folder = tmp_path / "all"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "one.jsonl").write_text(line("c1"))
    pack(folder / "two.zip", **{"two.jsonl": line("c2")})
    (folder / "bad.zip").write_bytes(b"PK\x03\x04 nothing")
    (folder / "notes.txt").write_text("Not mine")
    told = bring_in(folder)
    assert told.code == 3
    assert "bad.zip is a damaged ZIP archive" in told.err
    assert names() == {"c1", "c2"}


def test_a_link_out_of_the_folder_is_not_followed(
    tmp_path: Path, bring_in: Bring, alice: User
) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    (tmp_path / "secret.jsonl").write_text(line("secret"))
    (folder / "mine.jsonl").write_text(line("mine"))
    os.symlink(tmp_path / "secret.jsonl", folder / "link.jsonl")
    told = bring_in(folder)
    assert told.err == "Could not be read: link.jsonl: a link that leads out of the folder\n"
    assert names() == {"mine"}


@pytest.mark.parametrize(
    "name",
    ["../out.jsonl", "a/../../out.jsonl", "/etc/out.jsonl", "..\\out.jsonl", "C:\\out.jsonl"],
)
def test_names_that_lead_out_of_the_archive_are_refused(
    path: Path, bring_in: Bring, alice: User, name: str
) -> None:
    pack(path, **{name: line("bad"), "good.jsonl": line("good")})
    told = bring_in(path)
    assert told.code == 3
    assert "its name leads out of the archive" in told.err
    assert names() == {"good"}


def test_a_bomb_is_not_unpacked(path: Path, bring_in: Bring, alice: User) -> None:
    bomb = b'[{"mapping": {' + b" " * (packs.SMALL + 1)
    pack(path, **{"bomb.json": bomb, "good.jsonl": line("good")})
    told = bring_in(path)
    assert told.code == 3
    assert "export.zip/bomb.json: would unpack to more than 200 times its size" in told.err
    assert names() == {"good"}


@pytest.mark.parametrize(
    ("limit", "says"),
    [("MOST_BYTES", "would unpack to more than"), ("MOST_FILES", "holds more than")],
)
def test_an_archive_that_is_too_large_as_a_whole(
    path: Path,
    bring_in: Bring,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    says: str,
) -> None:
    monkeypatch.setattr(packs, limit, 1)
    pack(path, **{"one.jsonl": line("c1"), "two.jsonl": line("c2")})
    told = bring_in(path)
    assert told.code == 1
    assert says in told.err


def test_a_declared_size_that_lies_gives_no_more_than_it_declares(
    path: Path, bring_in: Bring, alice: User
) -> None:
    pack(path, **{"a.jsonl": line("c1") + " " * 100_000})
    honest = path.read_bytes()
    size = len(line("c1") + " " * 100_000).to_bytes(4, "little")
    assert honest.count(size) == 2
    path.write_bytes(honest.replace(size, (200).to_bytes(4, "little")))
    told = bring_in(path)
    assert told.code == 1
    assert "export.zip/a.jsonl is damaged in the archive" in told.err
    assert not Message.objects.exists()


def test_a_damaged_member_gives_what_came_before(path: Path, bring_in: Bring, alice: User) -> None:
    lines = [line(f"c{number}") for number in range(3)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.jsonl", "\n".join([*lines, ""]))
        archive.writestr("b.jsonl", line("other"))
    path.write_bytes(path.read_bytes().replace(b"I am c2.", b"I am c?."))
    told = bring_in(path)
    assert told.code == 3
    assert "a.jsonl is damaged in the archive" in told.err
    assert "other" in names()


def test_an_encrypted_member_is_named(path: Path, bring_in: Bring, alice: User) -> None:
    pack(path, **{"a.jsonl": line("c1"), "b.jsonl": line("c2")})
    raw = bytearray(path.read_bytes())
    # The flag that says so, of the first member, in both of its headers.
    raw[6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    told = bring_in(path)
    assert "export.zip/a.jsonl is encrypted" in told.err
    assert names() == {"c2"}


def test_names_stay_on_one_line(path: Path, bring_in: Bring, alice: User) -> None:
    pack(path, **{"a\n\x1b[31m.json": "", "good.jsonl": line("good")})
    told = bring_in(path)
    assert told.err == "Could not be read: export.zip/a\ufffd\ufffd[31m.json is empty\n"


def test_a_named_format_takes_only_its_files(path: Path, bring_in: Bring, alice: User) -> None:
    talk = {"uuid": "c2", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hi"}]}
    pack(path, **{"a.jsonl": line("c1"), "b.json": json.dumps([talk])})
    told = bring_in(path, "--format", "claude-ai")
    assert "Left out: export.zip/a.jsonl, which is not in this format: 1." in told.out
    assert [m.content for m in Message.objects.all()] == ["Hi"]
