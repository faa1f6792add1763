"""How the reading process has pictures described: it has no network, so it asks the worker.

A line on its output names a picture in its folder; the answer is a line of JSON on its input.
"""

import hashlib
import io
import json
import os
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

# Pixels of the long side, which the usual models take without making it smaller; and the least
# area that is worth a question, above icons and rules.
LONG_SIDE = 1568
LEAST = 10_000
# Of the JPEG, in bytes. A page is 300 kB; the worst that fits into the pixels is 3 MB.
MOST_BYTES = 4_000_000
_QUALITY = 88
_ASKED = re.compile(r"see ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model says of a picture: the `words` in it, and what it shows. `why_not`: why it said
    nothing, in words for the owner."""

    words: str = ""
    description: str = ""
    why_not: str = ""


class Sight:
    """In the reading process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def see(self, image: "Image") -> Seen:
        """`image`: upright, on white."""
        picture = jpeg(image)
        name = hashlib.sha256(picture).hexdigest()
        path = self.folder / f"{name}.jpg"
        path.write_bytes(picture)
        print(f"see {name}", flush=True)
        answer = sys.stdin.readline()
        path.unlink()
        return Seen(**json.loads(answer))


def jpeg(image: "Image") -> bytes:
    """The pixels alone: not where and with what it was taken, nor anything else beside them."""
    from PIL import Image

    small = image.copy()
    small.thumbnail((LONG_SIDE, LONG_SIDE))
    bare = Image.frombytes("RGB", small.size, small.convert("RGB").tobytes())
    kept = io.BytesIO()
    bare.save(kept, "JPEG", quality=_QUALITY)
    return kept.getvalue()


def asked(line: str) -> str | None:
    """The name of the picture that a line of the process asks about."""
    found = _ASKED.fullmatch(line)
    return found[1] if found else None


def picture(folder: Path, name: str) -> bytes | None:
    """None for anything but a picture of the folder's own."""
    try:
        place = os.open(folder / f"{name}.jpg", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(place, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    is_one = content.startswith(b"\xff\xd8\xff") and len(content) <= MOST_BYTES
    return content if is_one and hashlib.sha256(content).hexdigest() == name else None


def answer(seen: Seen) -> bytes:
    return json.dumps(asdict(seen)).encode("ascii") + b"\n"
