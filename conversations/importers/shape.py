"""What a file looks like, told from its beginning: which keys stand where."""

import re
from functools import lru_cache

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]"]', re.DOTALL)
_DEPTH = 6


@lru_cache(maxsize=4)
def keys(head: str) -> frozenset[str]:
    """The paths of all keys: `mapping`, `messages[].role`. A list around everything, or several
    objects in a row, make no difference. Text that only looks like JSON is no key."""
    found: set[str] = set()
    stack: list[tuple[str, str]] = []
    key = ""
    for token in _TOKEN.finditer(head):
        mark = token.group()
        if token[2]:
            path = stack[-1][1] if stack else ""
            key = f"{path}.{token[1]}" if path else token[1]
            if len(stack) <= _DEPTH:
                found.add(key)
        elif mark in {"{", "["}:
            stack.append((mark, _path(stack, key)))
        elif mark in {"}", "]"}:
            del stack[-1:]
        elif mark == '"':  # the head ends in the middle of a text
            break
    return frozenset(found)


def _path(stack: list[tuple[str, str]], key: str) -> str:
    if not stack:
        return ""
    kind, path = stack[-1]
    if kind == "{":
        return key
    return f"{path}[]" if path else ""
