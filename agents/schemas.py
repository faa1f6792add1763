"""What the API's schemas of every app are made of. Unknown fields are errors."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

# In every zone the times between them can still be stored.
EARLIEST, LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def written_out(value: Any) -> Any:
    """Numbers are refused: seconds and milliseconds look alike, and both hide the zone."""
    if not isinstance(value, str) or not _DATE.match(value):
        raise ValueError("write the time out with its offset: 2026-03-02T09:00:00+02:00")
    return value


def _storable(value: datetime) -> datetime:
    if not EARLIEST <= value <= LATEST:
        raise ValueError("is before the year 1000 or after 9998")
    return value


Slug = Annotated[str, Field(pattern=r"^[-a-zA-Z0-9_]{1,64}$", examples=["main"])]
Version = Annotated[str, Field(max_length=32)]
# Of the past or the future.
Time = Annotated[
    AwareDatetime,
    Field(examples=["2026-03-02T09:00:00+02:00"]),
    BeforeValidator(written_out),
    AfterValidator(_storable),
]
