"""A conversion may take so much memory and time, and whatever becomes of it fails one document."""

import ctypes
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from knowledge.conversion import process
from knowledge.conversion.process import Converted, convert
from knowledge.conversion.shape import Unreadable
from tests.knowledge import files
from tests.knowledge.readers import readers

ROOT = Path(__file__).parents[2]


def silent(done: int, of: int) -> None:
    pass


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files.kept(tmp_path_factory.mktemp("endless"), files.long_scan())


def killing(number: int) -> Callable[[], None]:
    def kill() -> None:
        for reader in readers():
            os.kill(reader.pid, number)

    return kill


def test_it_tells_how_far_it_is_and_what_it_read(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    pages = ["Clay is earth and water, dried in the wind."] * 3
    original = files.kept(tmp_path, files.pdf(pages))
    found = convert(original, tell=lambda done, of: told.append((done, of)))
    assert isinstance(found, Converted)
    assert (found.media_type, found.pages, found.notes) == ("application/pdf", 3, ())
    assert found.markdown.count("Clay is earth") == 3
    assert told[-1] == (3, 3)
    assert readers() == []


def test_too_much_memory(tmp_path: Path, settings: Settings) -> None:
    from PIL import Image

    settings.KNOWLEDGE_MEMORY_BYTES = 400_000_000
    kept = io.BytesIO()
    Image.new("1", (8_900, 8_900), 1).save(kept, "PNG")
    with pytest.raises(Unreadable) as refusal:
        convert(files.kept(tmp_path, kept.getvalue()), tell=silent)
    assert refusal.value.code == "too_heavy"
    assert "memory" in str(refusal.value)


def test_a_page_that_unpacks_to_too_much(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="takes too much memory"):
        convert(files.kept(tmp_path, files.pdf_bomb()), tell=silent)
    assert readers() == []


def test_what_is_nested_too_deep_is_not_told_to_take_memory(tmp_path: Path) -> None:
    cell, ends = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    content = files.docx(cell * 300 + files.paragraph("deep") + ends * 300)
    with pytest.raises(Unreadable, match="deeper than can be read") as refusal:
        convert(files.kept(tmp_path, content), tell=silent)
    assert refusal.value.code == "hostile"
    assert "memory" not in str(refusal.value)


@pytest.mark.parametrize("begins", ["![", "![]("])
def test_beginnings_of_images_take_no_time(tmp_path: Path, settings: Settings, begins: str) -> None:
    """What they took grew with the square of their number: minutes for these."""
    settings.KNOWLEDGE_SECONDS = 60
    found = convert(files.kept(tmp_path, begins.encode() * 150_000), tell=silent)
    assert found.markdown == begins * 150_000


def test_too_much_time(endless: Path, settings: Settings) -> None:
    settings.KNOWLEDGE_SECONDS = 2
    with pytest.raises(Unreadable, match=r"more than 0\.0333333 minutes") as refusal:
        convert(endless, tell=silent)
    assert refusal.value.code == "too_heavy"
    assert readers() == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, "too_heavy"), (signal.SIGSEGV, "damaged")]
)
def test_a_reader_that_dies_fails_its_document(endless: Path, number: int, code: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        convert(endless, tell=silent, tick=killing(number))
    assert refusal.value.code == code


WORKER = """
import sys
from pathlib import Path
from django.conf import settings
settings.configure(KNOWLEDGE_MEMORY_BYTES=2_000_000_000, KNOWLEDGE_SECONDS=600)
from knowledge.conversion.process import convert
convert(Path(sys.argv[1]), tell=lambda done, of: print(done, of, flush=True))
"""
CHILD_SUBREAPER = 36  # of prctl(2)


@pytest.fixture
def heir() -> Iterator[None]:
    """Processes whose parent dies become children of this one, which so learns how they end."""
    prctl = ctypes.CDLL(None).prctl
    assert prctl(CHILD_SUBREAPER, 1) == 0
    yield
    prctl(CHILD_SUBREAPER, 0)


@pytest.mark.usefixtures("heir")
def test_a_worker_that_is_killed_takes_its_reader_along(endless: Path) -> None:
    command = [sys.executable, "-c", WORKER, str(endless)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as worker:
        assert worker.stdout
        assert worker.stdout.readline() == b"1 13\n"
        [reader] = readers(worker.pid)
        worker.kill()
    _, status = os.waitpid(reader.pid, 0)
    # Not by a pipe that nobody reads, of which it would learn with the next page.
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def test_a_job_that_lost_its_document_ends_the_reader(endless: Path) -> None:
    def lose() -> None:
        assert readers()
        raise LookupError

    with pytest.raises(LookupError):
        convert(endless, tell=silent, tick=lose)
    assert readers() == []


def test_a_reader_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "HASH_KEY", "DATABASE_URL", "LLM_API_KEY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "hush")
    assert "hush" not in process._environment(Path("/tmp")).values()  # noqa: S108


TRIES = """
import json, os, resource, socket, subprocess, sys, urllib.request
from knowledge.conversion import child
child._take_limits(2_000_000_000, 60, 0)
refused = []
for name, attempt in {
    "socket": lambda: socket.create_connection(("127.0.0.1", 9)),
    "name": lambda: socket.getaddrinfo("localhost", 80),
    "web": lambda: urllib.request.urlopen("http://127.0.0.1:9/"),
    "program": lambda: subprocess.run(["true"]),
    "shell": lambda: os.system("true"),
    "fork": lambda: os.fork(),
}.items():
    try:
        attempt()
    except PermissionError:
        refused.append(name)
print(json.dumps([refused, resource.getrlimit(resource.RLIMIT_AS)[1]]))
"""


def test_a_reader_reaches_no_network_and_starts_no_program() -> None:
    run = subprocess.run(
        [sys.executable, "-c", TRIES], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    refused, memory = json.loads(run.stdout)
    assert refused == ["socket", "name", "web", "program", "shell", "fork"]
    assert memory == 2_000_000_000


TAKES = """
import resource
from knowledge.conversion import allowance, child, images
from PIL import Image
allowance.FLOOR, allowance.FOR_A_MB, allowance.FOR_A_PAGE = {constants}
child._take_limits(4_000_000_000, 100, 3_000_000)
at = lambda: print(resource.getrlimit(resource.RLIMIT_CPU)[0], flush=True)
at()
teller = child._Teller()
teller(2, 9), at()
teller(2, 9), at()
teller(9, 9), at()
images.Reader().look(Image.new("RGB", (60, 60), "white")), at()
while True:
    pass
"""


def test_what_a_reader_may_take_grows_with_size_pages_and_pictures() -> None:
    """A page that is done twice counts once, and nothing goes beyond all that one may take."""
    told = _run_until_it_is_ended(TAKES.replace("while True:", "while False:"), (10, 5, 11))
    assert told == (0, ["25", "2 9", "47", "47", "9 9", "100", "100"])


def test_a_reader_that_computes_without_getting_on_is_ended() -> None:
    code, told = _run_until_it_is_ended(TAKES, (5, 0, 0))
    assert set(told) == {"5", "2 9", "9 9"}
    assert code == -signal.SIGXCPU
    fault = process._fault_of(code)
    assert (fault.code, "far longer than a file of its size" in str(fault)) == ("too_heavy", True)


def _run_until_it_is_ended(program: str, constants: tuple[int, int, int]) -> tuple[int, list[str]]:
    run = subprocess.run(
        [sys.executable, "-c", program.replace("{constants}", str(constants))],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    return run.returncode, run.stdout.split("\n")[:-1]
