"""The process that reads one original; its arguments are the file, a folder, bytes and seconds, and
"sees" where pictures are to be handed out for a description (conversion/sight.py).

It takes its own limits before it looks at the file, tells "DONE OF" on its output after each page,
and leaves `text.md` and `result.json` in FOLDER. It gets no secret, no database and no network.
"""

import contextlib
import json
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from knowledge.conversion import allowance, images
from knowledge.conversion.shape import NESTED, Unreadable
from knowledge.conversion.sight import Sight

# Of a file that it writes.
MOST_WRITTEN = 200_000_000
_TOLD_EVERY = 0.25  # seconds
_BARRED = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "urllib.")


def main(original: str, folder: str, memory: str, seconds: str, sees: str = "") -> None:
    _take_limits(int(memory), int(seconds), Path(original).stat().st_size)
    if sees:
        images.sight = Sight(Path(folder))
    result: dict[str, Any]
    try:
        result = _read(Path(original), Path(folder))
    except Unreadable as fault:
        code = "too_heavy" if fault.code == "damaged" and _is_full(int(memory)) else fault.code
        result = {"failure": code, "detail": "" if code != fault.code else str(fault)}
    except ImportError as fault:
        result = _lacking(fault)
    except MemoryError:
        result = {"failure": "too_heavy", "detail": ""}
    except RecursionError:
        result = {"failure": "hostile", "detail": NESTED}
    except Exception as fault:
        # Libraries say of memory that they did not get whatever comes to their minds.
        code = "too_heavy" if _is_full(int(memory)) else "damaged"
        result = {"failure": code, "detail": "", "fault": type(fault).__name__}
    (Path(folder) / "result.json").write_text(json.dumps(result))


def _read(original: Path, folder: Path) -> dict[str, Any]:
    from knowledge.conversion import reading

    kind, found = reading.read(original, _Teller())
    values = asdict(found)
    # Half of a pair of surrogates is no character, and Postgres takes none.
    text = values.pop("markdown").encode("utf-8", errors="replace")
    (folder / "text.md").write_bytes(text)
    return {**values, "media_type": kind.value}


def _lacking(fault: ImportError) -> dict[str, str]:
    """A library that is not there, or that did not get the memory to be loaded."""
    if "map segment" in str(fault) or "allocate" in str(fault):
        return {"failure": "too_heavy", "detail": ""}
    words = f"The server lacks what reads this kind of file: {fault.name or 'a library'}."
    return {"failure": "internal", "detail": words}


def _is_full(memory: int) -> bool:
    """Whether what it ever held comes near the limit."""
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmPeak"))
    return peak * 1024 > memory * 4 // 5


class _Teller:
    def __init__(self) -> None:
        self.told = 0.0
        self.done = 0

    def __call__(self, done: int, of: int) -> None:
        allowance.more(max(done - self.done, 0))
        self.done = max(done, self.done)
        now = time.monotonic()
        if now - self.told >= _TOLD_EVERY or done == of:
            self.told = now
            print(done, of, flush=True)


def _take_limits(memory: int, seconds: int, size: int) -> None:
    _die_with_parent()
    allowance.begin(size, seconds)
    for which, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, MOST_WRITTEN),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(which, (limit, limit))
    # Where the machine itself runs out of memory, this process is the one to go.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    sys.addaudithook(_bar)


def _bar(event: str, arguments: object) -> None:
    """No reader fetches anything or starts a program, whatever a file tells it to."""
    if event.startswith(_BARRED) and event not in ("socket.gethostname", "socket.__new__"):
        raise PermissionError(f"A conversion may not do this: {event}.")


def _die_with_parent() -> None:
    import ctypes
    import signal

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    main(*sys.argv[1:])
