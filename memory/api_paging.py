"""Pages of the API: keys, not offsets, so that rows which arrive meanwhile shift nothing."""

import base64
import binascii
from typing import Annotated, TypeVar

from django.db.models import Model, QuerySet
from pydantic import Field

from conversations.reading import BadCursor
from memory.pages.paging import by_moment, is_key

Row = TypeVar("Row", bound=Model)
Cursor = Annotated[str, Field(max_length=200)]
Limit = Annotated[int, Field(ge=1, le=200)]


def page_of(
    rows: QuerySet[Row], field: str, after: str | None, limit: int
) -> tuple[list[Row], str | None]:
    """Latest first by a moment that every row has, with the cursor of the next page.

    Raises BadCursor.
    """
    listing = by_moment(rows, field, _opened(after) if after else "", falling=True, size=limit)
    return listing.rows, _sealed(listing.next_key) if listing.next_key else None


def _sealed(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode()


def _opened(cursor: str) -> str:
    try:
        key = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except (ValueError, binascii.Error) as error:
        raise BadCursor from error
    if not is_key(key):
        raise BadCursor
    return key
