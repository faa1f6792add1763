"""What declarations come to: lengths in pixels, colours, and what an element hands down."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from knowledge.conversion.styles import WINDOW, Declared, Tokens

if TYPE_CHECKING:
    from bs4 import Tag

Colour = tuple[float, float, float]
# More than a variable is ever made of: each may name others, and these again.
_MOST_TOKENS = 200
# Colours nearer than this in red, green and blue, each from 0 to 1, no eye tells apart.
NEAREST = 0.07
WHITE, BLACK, BLUE, GREY = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.93), (0.94, 0.94, 0.94)
_UNITS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "vw": WINDOW["width"] / 100, "vh": WINDOW["height"] / 100, "vmin": WINDOW["height"] / 100,
    "vmax": WINDOW["width"] / 100, "rem": 16.0,
}  # fmt: skip
_OF_FONT = {"em": 1.0, "ex": 0.5, "ch": 0.5, "lh": 1.2}
_FONT_SIZES = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0,
    "x-large": 24.0, "xx-large": 32.0, "xxx-large": 48.0,
}  # fmt: skip
_OF_FONT_TAGS = (10.0, 10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0)
_KEYWORDS = frozenset(["inherit", "initial", "unset", "revert", "revert-layer"])


@dataclass(frozen=True, slots=True)
class Look:
    """`colour`: None where it can't be told. `ground`: what may be behind the text; empty where
    that can't be told. `own`: what the element itself declares, shorthands taken apart."""

    colour: Colour | None = BLACK
    alpha: float = 1.0
    ground: tuple[Colour, ...] = (WHITE,)
    font: float = 16.0
    visible: bool = True
    outlined: bool = False
    opacity: float = 1.0
    variables: dict[str, Tokens] = field(default_factory=dict)
    own: dict[str, Tokens] = field(default_factory=dict)

    def pixels(self, name: str, of: float = 0.0) -> float | None:
        """A length that the element declares; `of`: what percentages are of."""
        tokens = self.own.get(name, ())
        return length(tokens[0], self.font, of) if len(tokens) == 1 else None

    def word(self, name: str) -> str:
        tokens = self.own.get(name, ())
        return tokens[0].lower_value if tokens and tokens[0].type == "ident" else ""


def below(above: Look, tag: "Tag", declared: list[Declared]) -> Look:
    """How an element looks that stands in another one."""
    variables = {
        **above.variables,
        **{one.name: _solid(one.value) for one in declared if one.name.startswith("--")},
    }
    own: dict[str, Tokens] = {}
    for name, value in (*_of_attributes(tag), *((one.name, one.value) for one in declared)):
        if not name.startswith("--"):
            own |= _apart(name, _solid(_resolved(value, variables)))
    look = replace(above, own=own, variables=variables)
    font = _font(look, above.font)
    look = replace(look, font=font)
    colour, alpha = _colour(look, above, tag)
    return replace(
        look,
        colour=colour,
        alpha=alpha,
        ground=_ground(look, above, colour, tag),
        visible=_visible(look),
        outlined=_outlined(look),
        opacity=above.opacity * _opacity(look),
    )


def length(token: Any, font: float = 16.0, of: float = 0.0) -> float | None:
    if token.type == "dimension":
        unit = token.lower_unit
        size = _UNITS.get(unit) or _OF_FONT.get(unit, 0.0) * font
        return float(token.value * size) if size else None
    if token.type == "percentage":
        return float(token.value * of / 100)
    return 0.0 if token.type == "number" and token.value == 0 else None


def _solid(tokens: Tokens) -> Tokens:
    return [token for token in tokens if token.type not in ("whitespace", "comment")]


def _resolved(tokens: Tokens, variables: dict[str, Tokens]) -> Tokens:
    """With what the variables stand for."""
    found, todo, steps = [], list(reversed(tokens)), 0
    while todo:
        token = todo.pop()
        steps += 1
        if steps > _MOST_TOKENS:
            return []
        if token.type == "function" and token.lower_name == "var":
            todo += reversed(_stands_for(_solid(token.arguments), variables))
        else:
            found.append(token)
    return found


def _stands_for(arguments: Tokens, variables: dict[str, Tokens]) -> Tokens:
    """Its value, or what is to stand where it has none."""
    name = getattr(arguments[0], "value", "") if arguments else ""
    return variables.get(name) or arguments[2:]


def _apart(name: str, value: Tokens) -> dict[str, Tokens]:
    """A shorthand as the properties that it sets."""
    if name == "background":
        pictures = [token for token in value if token.type == "url" or _is_picture(token)]
        colours = [token for token in value if parsed(token) is not None]
        return {"background-image": pictures, "background-color": colours[-1:]}
    if name == "font":
        return {"font-size": next(([token] for token in value if _is_size(token)), [])}
    if name == "inset":
        return dict(zip(("top", "right", "bottom", "left"), _four(value), strict=True))
    if name in ("margin", "padding"):
        top, _, bottom, left = _four(value)
        return {f"{name}-top": top, f"{name}-left": left, f"{name}-bottom": bottom}
    if name in ("overflow-x", "overflow-y"):
        name = "overflow"
    return {name: value}


def _four(value: Tokens) -> list[Tokens]:
    if not 1 <= len(value) <= 4:
        return [[], [], [], []]
    places = {1: (0, 0, 0, 0), 2: (0, 1, 0, 1), 3: (0, 1, 2, 1), 4: (0, 1, 2, 3)}[len(value)]
    return [[value[place]] for place in places]


def _is_picture(token: Any) -> bool:
    return token.type == "function" and (
        token.lower_name in ("url", "image", "image-set", "cross-fade", "element")
        or token.lower_name.endswith("gradient")
    )


def _is_size(token: Any) -> bool:
    return token.type in ("dimension", "percentage") or (
        (token.type == "number" and token.value == 0)
        or (token.type == "ident" and token.lower_value in _FONT_SIZES)
    )


def parsed(token: Any) -> tuple[Colour, float] | None:
    """A colour and how much of it covers; None for what is none, or can't be told."""
    from tinycss2.color4 import parse_color

    try:
        colour = parse_color(token)
        if colour is None or isinstance(colour, str):
            return None
        red, green, blue, alpha = colour.to("srgb")
    except (NotImplementedError, ValueError, TypeError):
        return None
    return (red or 0.0, green or 0.0, blue or 0.0), alpha


def _of_attributes(tag: "Tag") -> Iterator[tuple[str, Tokens]]:
    """What HTML says by itself, as old pages and mails do."""
    from tinycss2 import parse_component_value_list

    asked = [("bgcolor", "background-color")]
    asked += [("color", "color")] * (tag.name == "font") + [("text", "color")] * (
        tag.name == "body"
    )
    for attribute, name in asked:
        if value := str(tag.get(attribute) or ""):
            yield name, parse_component_value_list(value[:100])
    if tag.get("background"):
        yield "background-image", parse_component_value_list("url(picture)")
    size = str(tag.get("size") or "") if tag.name == "font" else ""
    if size.isdecimal() and int(size[:4]) < len(_OF_FONT_TAGS):
        yield "font-size", parse_component_value_list(f"{_OF_FONT_TAGS[int(size)]}px")


def _font(look: Look, above: float) -> float:
    tokens = look.own.get("font-size", ())
    if len(tokens) != 1:
        return above
    token = tokens[0]
    if token.type == "ident":
        scale = {"smaller": 0.83, "larger": 1.2}.get(token.lower_value)
        return above * scale if scale else _FONT_SIZES.get(token.lower_value, above)
    size = length(token, above, above)
    return above if size is None else size


def _colour(look: Look, above: Look, tag: "Tag") -> tuple[Colour | None, float]:
    tokens = look.own.get("-webkit-text-fill-color") or look.own.get("color") or ()
    if len(tokens) != 1:
        usual = {"a": BLUE, "button": BLACK, "mark": BLACK}.get(tag.name)
        return (usual, 1.0) if usual and (tag.name != "a" or tag.get("href")) else (
            above.colour, above.alpha
        )  # fmt: skip
    word = tokens[0].lower_value if tokens[0].type == "ident" else ""
    if word in ("inherit", "unset", "currentcolor"):
        return above.colour, above.alpha
    if word in _KEYWORDS:
        return BLACK, 1.0
    return parsed(tokens[0]) or (None, 1.0)


def _ground(look: Look, above: Look, colour: Colour | None, tag: "Tag") -> tuple[Colour, ...]:
    ground = above.ground
    if tag.name in ("button", "mark"):
        ground = (GREY,) if tag.name == "button" else ((1.0, 1.0, 0.0),)
    if tokens := look.own.get("background-color"):
        ground = _painted(tokens[0], ground, colour)
    pictures = look.own.get("background-image") or ()
    if any(token.type == "url" or _is_picture(token) for token in pictures):
        ground = tuple(_stops(pictures))
    return ground


def _painted(token: Any, ground: tuple[Colour, ...], colour: Colour | None) -> tuple[Colour, ...]:
    word = token.lower_value if token.type == "ident" else ""
    if word == "currentcolor":
        return (colour,) if colour else ()
    if word in _KEYWORDS:
        return ground
    paint = parsed(token)
    if paint is None:
        return ()
    above, alpha = paint
    if alpha > 0.99:
        return (above,)
    return tuple(mixed(above, alpha, behind) for behind in ground)


def is_near(one: Colour, other: Colour) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= NEAREST


def mixed(above: Colour, alpha: float, behind: Colour) -> Colour:
    red, green, blue = (a * alpha + b * (1 - alpha) for a, b in zip(above, behind, strict=True))
    return red, green, blue


def _stops(pictures: Tokens) -> Iterator[Colour]:
    """The colours of a gradient; none for a picture, which may be anything."""
    if any(token.type == "url" or not token.lower_name.endswith("gradient") for token in pictures
           if token.type == "url" or token.type == "function"):  # fmt: skip
        return
    for gradient in pictures:
        for token in getattr(gradient, "arguments", ()):
            if (paint := parsed(token)) is not None:
                yield paint[0]


def _visible(look: Look) -> bool:
    word = look.word("visibility")
    if word == "initial":
        return True
    return word not in ("hidden", "collapse") if word and word not in _KEYWORDS else look.visible


def _outlined(look: Look) -> bool:
    """Whether it shows whatever its colour: by a shadow, or as a hole that the ground fills."""
    clips = (look.word("background-clip"), look.word("-webkit-background-clip"))
    if "text" in clips:
        return True
    shadow = look.own.get("text-shadow")
    return look.outlined if shadow is None else look.word("text-shadow") not in ("none", "initial")


def _opacity(look: Look) -> float:
    found = [look.own.get("opacity") or ()]
    found += [
        _solid(token.arguments)
        for token in look.own.get("filter") or ()
        if token.type == "function" and token.lower_name == "opacity"
    ]
    product = 1.0
    for tokens in found:
        product *= _share(tokens)
    return product


def _share(tokens: Sequence[Any]) -> float:
    if len(tokens) != 1 or tokens[0].type not in ("number", "percentage"):
        return 1.0
    value = float(tokens[0].value)
    return min(max(value / 100 if tokens[0].type == "percentage" else value, 0.0), 1.0)
