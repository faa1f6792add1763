"""Which style declarations hold for which element of a page, as a browser works it out.

tinycss2 reads the style sheets and soupsieve their selectors; what follows from the declarations is
told in `unseen`. Only the page's own sheets are known: nothing is fetched.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from knowledge.conversion.shape import Unreadable
from memory.text.lists import listed

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

# Tries of a selector on an element. Large pages need some hundred thousand.
MOST_TRIES = 1_000_000
_HOSTILE = "The page has more styles than any page does that is meant to be read."
# Of what a rule declares, the rest is looks. Names that begin with -- are variables.
ASKED = listed("""
    display visibility content-visibility opacity filter color -webkit-text-fill-color text-shadow
    background background-color background-image background-clip -webkit-background-clip
    color-scheme font font-size position inset left right top bottom margin margin-left margin-top
    text-indent clip clip-path transform translate scale overflow overflow-x overflow-y
    width height max-width max-height min-width min-height padding padding-top padding-bottom
""")
# The window that @media asks about, in pixels.
WINDOW = {"width": 1280.0, "height": 800.0}
_TELLS = {
    "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference",
    "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine",
    "orientation": "landscape",
}  # fmt: skip
_NEVER = ("prefers-", "forced-colors", "display-mode", "inverted-colors", "-ms-", "monochrome")
_WIDTH = re.compile(
    r"\(\s*(?:(?P<bound>min|max)-)?(?P<side>width|height)\s*(?P<sign>:|<=|>=|<|>)"
    r"\s*(?P<size>\d{1,6}(?:\.\d{1,6})?)(?P<unit>px|em|rem)?\s*\)"
)
_FEATURE = re.compile(r"\(\s*(?P<name>[\w-]{1,60})\s*(?::\s*(?P<value>[\w-]{1,60})\s*)?\)")

Tokens = Sequence[Any]
Weight = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Declared:
    """`weight`: importance, specificity (three counts), place; the heaviest holds."""

    weight: Weight
    name: str
    value: Tokens


@dataclass(slots=True)
class Rule:
    selector: str
    declared: list[Declared]
    # Compiled when it is first tried; False where it is none that soupsieve knows.
    matcher: Any = None

    def holds(self, tag: "Tag") -> bool:
        from soupsieve import SelectorSyntaxError, compile

        if self.matcher is None:
            try:
                self.matcher = compile(self.selector)
            except (SelectorSyntaxError, NotImplementedError, ValueError):
                self.matcher = False
        return bool(self.matcher and self.matcher.match(tag))


@dataclass
class Sheets:
    """The rules of a page, by what the last part of their selectors names."""

    # Whether there are sheets that can't be known.
    others: bool = False
    tries: int = 0
    count: int = 0
    rules: defaultdict[tuple[str, str], list[Rule]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def of(self, tag: "Tag") -> list[Declared]:
        """What holds for it, in the order in which it is to be applied. Raises Unreadable."""
        found = list(_inline(str(tag.get("style") or "")))
        for key in _keys(tag):
            candidates = self.rules.get(key, ())
            self.tries += len(candidates)
            if self.tries > MOST_TRIES:
                raise Unreadable("hostile", _HOSTILE)
            for rule in candidates:
                if rule.holds(tag):
                    found += rule.declared
        return sorted(found, key=lambda one: one.weight)

    def take(self, tokens: Iterable[Any], within: str = "") -> None:
        for node in tokens:
            if node.type == "qualified-rule":
                self._rule(node, within)
            elif node.type == "at-rule":
                self._at_rule(node, within)

    def _at_rule(self, node: Any, within: str) -> None:
        from tinycss2 import parse_blocks_contents, serialize

        name, said = node.lower_at_keyword, serialize(node.prelude).strip().lower()
        self.others = self.others or name == "import"
        if node.content is None:
            return
        holds = name == "layer" or (name == "supports" and not said.startswith("not"))
        if holds or (name == "media" and _on_a_screen(said)):
            inner = parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
            self.take(inner, within)

    def _rule(self, node: Any, within: str) -> None:
        from tinycss2 import parse_blocks_contents, serialize

        inner = parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
        declared = [one for one in inner if one.type == "declaration" and _is_asked(one.name)]
        nested = [one for one in inner if one.type in ("qualified-rule", "at-rule")]
        for tokens in _split(node.prelude):
            selector = _nested(serialize(tokens).strip(), within)
            if declared and selector:
                self._add(selector, tokens, declared)
            if nested and selector:
                self.take(nested, selector)

    def _add(self, selector: str, tokens: Tokens, declared: list[Any]) -> None:
        self.count += 1
        weight = _specificity(tokens)
        found = [
            Declared((int(one.important), *weight, self.count), one.lower_name, one.value)
            for one in declared
        ]
        self.rules[_key(tokens)].append(Rule(selector, found))


def sheets(soup: "BeautifulSoup") -> Sheets:
    from tinycss2 import parse_stylesheet

    found = Sheets(others=_has_others(soup))
    for sheet in soup.find_all("style"):
        if _on_a_screen(str(sheet.get("media") or "").strip().lower()):
            text = sheet.get_text()
            found.take(parse_stylesheet(text, skip_comments=True, skip_whitespace=True))
    return found


def _has_others(soup: "BeautifulSoup") -> bool:
    rels = [link.get_attribute_list("rel") for link in soup.find_all("link", href=True)]
    return any(str(word).lower() == "stylesheet" for rel in rels for word in rel)


def _inline(style: str) -> Iterator[Declared]:
    from tinycss2 import parse_blocks_contents

    if not style.strip():
        return
    for place, one in enumerate(
        parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
    ):
        if one.type == "declaration" and _is_asked(one.name):
            yield Declared((int(one.important), 1 << 20, 0, 0, place), one.lower_name, one.value)


def _is_asked(name: str) -> bool:
    return name.startswith("--") or name.lower() in ASKED


def _keys(tag: "Tag") -> Iterator[tuple[str, str]]:
    yield "", ""
    yield "", str(tag.name).lower()
    yield "#", str(tag.get("id") or "")
    for name in dict.fromkeys(tag.get_attribute_list("class")):
        yield ".", str(name)


def _key(tokens: Tokens) -> tuple[str, str]:
    """Of the last compound: what any element that it fits has."""
    kept: list[Any] = []
    for token in reversed(tokens):
        if token.type == "whitespace" or token in (">", "+", "~"):
            if kept:
                break
            continue
        kept.insert(0, token)
    for before, token in zip([None, *kept], kept, strict=False):
        if token.type == "hash":
            return "#", token.value
        if before is not None and before == "." and token.type == "ident":
            return ".", token.value
    first = kept[0] if kept else None
    return ("", first.lower_value) if first is not None and first.type == "ident" else ("", "")


def _specificity(tokens: Tokens) -> tuple[int, int, int]:
    ids = classes = names = 0
    before: Any = None
    for token in tokens:
        if token.type == "hash":
            ids += 1
        elif token.type == "[] block" or token in (".", ":"):
            classes += 1
        elif token.type == "ident" and before not in (".", ":"):
            names += 1
        before = token
    return ids, classes, names


def _split(tokens: Tokens) -> Iterator[Tokens]:
    part: list[Any] = []
    for node in tokens:
        if node == ",":
            yield part
            part = []
        else:
            part.append(node)
    yield part


def _nested(selector: str, within: str) -> str:
    if not within:
        return selector
    if "&" in selector:
        return selector.replace("&", f":is({within})")
    return f":is({within}) {selector}"


def _on_a_screen(query: str) -> bool:
    """Of what can't be told, that it holds: else a page could hide behind it."""
    return not query or any(_holds(part.strip()) for part in query.split(","))


def _holds(query: str) -> bool:
    if query.startswith("not "):
        return not _holds(query[4:].strip())
    parts = [part.strip() for part in query.removeprefix("only ").split(" and ")]
    return all(_part_holds(part) for part in parts)


def _part_holds(part: str) -> bool:
    if not part.startswith("("):
        return part in ("screen", "all")
    if size := _WIDTH.fullmatch(part):
        return _fits(size)
    feature = _FEATURE.fullmatch(part)
    if feature is None:
        return True
    if told := _TELLS.get(feature["name"]):
        return feature["value"] in (told, None)
    return not feature["name"].startswith(_NEVER)


def _fits(asked: re.Match[str]) -> bool:
    size = float(asked["size"]) * (16 if asked["unit"] in ("em", "rem") else 1)
    here = WINDOW[asked["side"]]
    if asked["bound"] == "min" or asked["sign"] in (">", ">="):
        return here >= size
    if asked["bound"] == "max" or asked["sign"] in ("<", "<="):
        return here <= size
    return here == size
