"""How many o200k tokens a text costs the assistant's model."""

import threading
import warnings
from functools import cache
from typing import Any

_loading = threading.Lock()


def count(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


def warm_up() -> None:
    """Half a second for the table. A request that comes first pays it instead."""
    _encoding()


def _encoding() -> Any:
    with _loading:
        return _table()


@cache
def _table() -> Any:
    with warnings.catch_warnings():
        # It reads its tables in a way that Python has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        return bpe_openai.get_encoding("o200k_base")
