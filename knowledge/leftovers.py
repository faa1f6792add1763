"""What a worker that was killed leaves on its machine: copies of an original and of its text."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from time import time

from django.conf import settings

# Of the names in the folder for temporary files.
ORIGINAL, READING = "remembrancer-document-", "remembrancer-reading-"


def remove() -> int:
    """Those that no reader can be at any more: it has its time, and the model has as much for
    pictures. How many."""
    return sum(_removed(path) for path in _ours(time() - 3 * settings.KNOWLEDGE_SECONDS))


def _ours(before: float) -> Iterator[Path]:
    for prefix in (ORIGINAL, READING):
        for path in Path(gettempdir()).glob(f"{prefix}*"):
            with suppress(OSError):
                about = path.lstat()
                if about.st_uid == os.getuid() and about.st_mtime < before:
                    yield path


def _removed(path: Path) -> bool:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError:
        return False
    return True
