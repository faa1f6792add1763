"""What in a new OpenAPI description breaks a client that was written against an old one."""

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]
# Of a request the bounds may only widen.
LOWER = ("minimum", "minLength", "minItems")
UPPER = ("maximum", "maxLength", "maxItems")


def breaking(old: Schema, new: Schema) -> list[str]:
    """One line for each, of the kind `POST /x body.name: now required`."""
    return list(_paths(old, new))


def _paths(old: Schema, new: Schema) -> Iterator[str]:
    for path, methods in old["paths"].items():
        for method, was in methods.items():
            place = f"{method.upper()} {path}"
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{place}: gone"
            else:
                yield from _operation(place, Sides(old, new), was, now)


class Sides:
    """Both descriptions, to follow pointers in; and the pairs of schemas that were seen."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self.old, self.new = old, new
        self.seen: set[tuple[str, str, bool]] = set()


def _operation(place: str, sides: Sides, was: Schema, now: Schema) -> Iterator[str]:
    if was["operationId"] != now["operationId"]:
        yield f"{place}: its operationId was {was['operationId']}"
    yield from _parameters(place, sides, was, now)
    yield from _body(place, sides, was.get("requestBody"), now.get("requestBody"))
    for status, answer in was["responses"].items():
        if str(status) not in map(str, now["responses"]):
            yield f"{place} {status}: gone"
            continue
        later = next(one for code, one in now["responses"].items() if str(code) == str(status))
        for kind, content in answer.get("content", {}).items():
            if kind not in later.get("content", {}):
                yield f"{place} {status}: no {kind} any more"
            else:
                told = later["content"][kind]["schema"]
                yield from _answer(f"{place} {status}", sides, content["schema"], told)


def _parameters(place: str, sides: Sides, was: Schema, now: Schema) -> Iterator[str]:
    before = {(one["in"], one["name"]): one for one in was.get("parameters", ())}
    after = {(one["in"], one["name"]): one for one in now.get("parameters", ())}
    for key in before.keys() - after.keys():
        yield f"{place} {key[1]}: gone"
    for key, one in after.items():
        if one["required"] and not before.get(key, {"required": False})["required"]:
            yield f"{place} {key[1]}: now required"
        if key in before:
            yield from _asked(f"{place} {key[1]}", sides, before[key]["schema"], one["schema"])


def _body(place: str, sides: Sides, was: Schema | None, now: Schema | None) -> Iterator[str]:
    if now is not None and now.get("required") and not (was or {}).get("required"):
        yield f"{place} body: now required"
    if was is None:
        return
    for kind, content in was["content"].items():
        later = (now or {"content": {}})["content"].get(kind)
        if later is None:
            yield f"{place} body: no {kind} any more"
        else:
            yield from _asked(f"{place} body", sides, content["schema"], later["schema"])


def _asked(place: str, sides: Sides, was: Schema, now: Schema) -> Iterator[str]:
    """What a client sends: everything that was taken must be taken still."""
    was, now, again = _both(sides, was, now, asked=True)
    if again:
        return
    yield from _kinds(place, sides, was, now, asked=True)
    for name in sorted(set(now.get("required", ())) - set(was.get("required", ()))):
        yield f"{place}.{name}: now required"
    for name, one in was.get("properties", {}).items():
        if name not in now.get("properties", {}):
            yield f"{place}.{name}: gone"
        else:
            yield from _asked(f"{place}.{name}", sides, one, now["properties"][name])
    for word, tighter in (*((w, 1) for w in LOWER), *((w, -1) for w in UPPER)):
        limit = now.get(word)
        if limit is not None and (word not in was or (limit - was[word]) * tighter > 0):
            yield f"{place}: {word} is {limit}, was {was.get(word, 'none')}"
    if "pattern" in now and now["pattern"] != was.get("pattern"):
        yield f"{place}: another pattern"


def _answer(place: str, sides: Sides, was: Schema, now: Schema) -> Iterator[str]:
    """What a client reads: everything that came must come still, and nothing it doesn't know."""
    was, now, again = _both(sides, was, now, asked=False)
    if again:
        return
    yield from _kinds(place, sides, was, now, asked=False)
    for name, one in was.get("properties", {}).items():
        if name not in now.get("properties", {}):
            yield f"{place}.{name}: gone"
            continue
        if name in was.get("required", ()) and name not in now.get("required", ()):
            yield f"{place}.{name}: may be missing"
        yield from _answer(f"{place}.{name}", sides, one, now["properties"][name])


def _kinds(place: str, sides: Sides, was: Schema, now: Schema, *, asked: bool) -> Iterator[str]:
    """Types, choices and what lists hold."""
    narrow, wide = (was, now) if asked else (now, was)
    for kind in _types(sides, narrow) - _types(sides, wide):
        yield f"{place}: no {kind} any more" if asked else f"{place}: may be {kind} now"
    known = set(map(str, was.get("enum", ())))
    taken = set(map(str, now.get("enum", ())))
    if (asked and taken and known - taken) or (asked and taken and not known):
        yield f"{place}: no longer {', '.join(sorted(known - taken)) or 'any value'}"
    if "items" in was and "items" in now:
        step = _asked if asked else _answer
        yield from step(f"{place}[]", sides, was["items"], now["items"])
    for word in ("anyOf", "oneOf", "allOf"):
        pairs = zip(was.get(word, ()), now.get(word, ()), strict=False)
        for one, other in pairs:
            yield from (_asked if asked else _answer)(place, sides, one, other)


def _types(sides: Sides, schema: Schema) -> set[str]:
    found = schema.get("type", ())
    types = {found} if isinstance(found, str) else set(found)
    for word in ("anyOf", "oneOf"):
        for one in schema.get(word, ()):
            types |= {"object"} if "$ref" in one else _types(sides, one)
    return types


def _both(sides: Sides, was: Schema, now: Schema, *, asked: bool) -> tuple[Schema, Schema, bool]:
    """Behind their pointers; and whether this pair was compared already."""
    pair = (was.get("$ref", ""), now.get("$ref", ""), asked)
    again = all(pair[:2]) and pair in sides.seen
    sides.seen.add(pair)
    return _behind(was, sides.old), _behind(now, sides.new), again


def _behind(schema: Schema, whole: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    *_, section, name = schema["$ref"].split("/")
    return dict(whole["components"][section][name])
