"""How many o200k tokens a text costs the assistant's model."""

import threading
import warnings
from functools import cache
from typing import Any

_loading = threading.Lock()


def count(text: str) -> int:
    """Half of a surrogate pair, which is no character, counts as the sign for a missing one."""
    table = _encoding()
    try:
        return int(table.count(text))
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return int(table.count(whole))


def warm_up() -> None:
    """Half a second for the table. A request that comes first pays it instead."""
    _encoding()


def _encoding() -> Any:
    with _loading:
        return _table()


@cache
def _table() -> Any:
    """The compiled part alone: what the library wraps around it makes lists of tokens, which takes
    three times as long as to count them."""
    with warnings.catch_warnings():
        # Its package reads a table in a way that Python has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import _bindings

    return _bindings.tokenizer_for_encoding("o200k_base")
