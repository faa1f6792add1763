"""What a client saw of a row, so that a change is made over that and nothing else."""

import hashlib

from django.http import HttpRequest
from pydantic import BaseModel


class Outdated(Exception):
    """The row is another by now; `current` is as it is."""

    def __init__(
        self, current: BaseModel, why: str = "This has changed since you read it."
    ) -> None:
        super().__init__(f"{why} Look at `current` and decide again.")
        self.current = current


def version_of(*values: object) -> str:
    return hashlib.sha256("|".join(map(str, values)).encode()).hexdigest()[:16]


def seen_in(request: HttpRequest, version: str = "") -> str:
    """The version that the client looked at: the body's, or what it sends as If-Match."""
    header = request.headers.get("If-Match", "").strip()
    named = header.removeprefix("W/").strip('"')
    return version or ("" if named == "*" else named)
