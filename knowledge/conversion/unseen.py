"""What a page hides from whoever looks at it, and so from whoever reads its text here.

Instructions meant for a machine alone are put where no person sees them. What a stranger's page
shows only to screen readers goes too: the owner could not see what the assistant reads.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from knowledge.conversion.looks import BLACK, WHITE, Look, below, is_near, length, mixed
from knowledge.conversion.styles import Sheets, sheets

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

# Below these no eye reads: pixels of height, share of opacity.
SMALLEST, FAINTEST = 2.0, 0.06
# Pixels outside of the page; a menu is moved by its own width, an image by a few.
_OUTSIDE, _FAR = 500.0, 5_000.0
_DARK = (0.07, 0.07, 0.07)
_PICTURES = ("img", "picture", "video", "canvas", "svg", "iframe", "object")
_NEVER_SHOWN = frozenset(["dialog", "datalist", "rp", "noembed", "noframes"])


def remove(soup: "BeautifulSoup") -> bool:
    """Takes it out. True where something was hidden by its looks and not, as parts that a page
    shows on demand are, plainly."""
    found = sheets(soup)
    remover = _Remover(found)
    remover.walk(soup, _canvas(soup, found))
    for tag in remover.gone:
        if not tag.decomposed:
            tag.decompose()
    for text in remover.faded:
        text.extract()
    return remover.sly


class _Remover:
    def __init__(self, found: Sheets) -> None:
        self.sheets = found
        self.gone: list[Any] = []
        self.faded: list[Any] = []
        self.sly = False

    def walk(self, parent: Any, look: Look) -> None:
        """Gathers; what is gone can't be asked any more."""
        todo: list[tuple[Any, Look]] = [(parent, look)]
        while todo:
            node, above = todo.pop()
            covered = False
            for child in node.children:
                if not hasattr(child, "children"):
                    self._text(child, above)
                    continue
                here = below(above, child, self.sheets.of(child))
                if here.word("position") in ("absolute", "fixed"):
                    here, covered = _lifted(here, above, child, covered)
                elif covered and not _is_painted(here):
                    here = replace(here, ground=())
                if not self._is_gone(child, here):
                    todo.append((child, here))

    def _is_gone(self, tag: "Tag", look: Look) -> bool:
        plainly = _is_put_away(tag, look)
        gone = plainly or _is_moved_out(look) or _is_cut_away(look) or look.opacity < FAINTEST
        if gone:
            self.gone.append(tag)
            self.sly = self.sly or not (plainly or not tag.get_text(strip=True))
        return gone

    def _text(self, text: Any, look: Look) -> None:
        if text.strip() and type(text).__name__ == "NavigableString" and not _shows(look):
            self.faded.append(text)
            self.sly = self.sly or look.visible


def _canvas(soup: "BeautifulSoup", found: Sheets) -> Look:
    """White paper and black ink, unless the page says that it is dark. Where other sheets are at
    work what is behind the text can't be known."""
    meta = soup.find("meta", attrs={"name": "color-scheme"})
    said = str(meta.get("content") or "") if meta else ""
    for tag in soup.find_all(["html", "body"]):
        for one in found.of(tag):
            if one.name == "color-scheme":
                said = " ".join(str(getattr(token, "value", "")) for token in one.value)
    words = said.lower().split()
    dark = "dark" in words and "light" not in words
    ground: tuple[tuple[float, float, float], ...] = (_DARK if dark else WHITE,)
    return Look(colour=WHITE if dark else BLACK, ground=() if found.others else ground)


def _lifted(look: Look, above: Look, tag: "Tag", covered: bool) -> tuple[Look, bool]:
    """Something put over or under the rest: pictures and other grounds may lie behind it, and it
    may be the ground of what comes after it."""
    if _is_painted(look):
        return look, True
    beside = tag.parent
    over = covered or (beside is not None and beside.find(_PICTURES) is not None)
    return (replace(look, ground=()) if over else look), covered


def _is_painted(look: Look) -> bool:
    return bool(look.own.get("background-color") or look.own.get("background-image"))


def _shows(look: Look) -> bool:
    if not look.visible or look.font < SMALLEST:
        return False
    if look.outlined:
        return True
    if look.alpha * look.opacity < FAINTEST:
        return False
    if look.colour is None or not look.ground:
        return True
    ink, alpha = look.colour, look.alpha
    return not all(is_near(mixed(ink, alpha, behind), behind) for behind in look.ground)


def _is_put_away(tag: "Tag", look: Look) -> bool:
    """As HTML itself and every page does with what it shows on demand."""
    if tag.has_attr("hidden") or tag.get("type") == "hidden" or tag.has_attr("popover"):
        return True
    if tag.name in _NEVER_SHOWN and not tag.has_attr("open"):
        return True
    return look.word("display") == "none" or look.word("content-visibility") == "hidden"


def _is_moved_out(look: Look) -> bool:
    if look.word("position") in ("absolute", "fixed", "relative"):
        for side in ("left", "top", "right", "bottom"):
            at = look.pixels(side, of=1280.0)
            if at is not None and (at <= -_OUTSIDE or at >= _FAR):
                return True
    for name in ("text-indent", "margin-left", "margin-top"):
        at = look.pixels(name, of=1280.0)
        if at is not None and (at <= -_OUTSIDE or at >= _FAR):
            return True
    return any(_is_thrown(token) for token in look.own.get("transform") or ()) or _is_scaled_away(
        look.own.get("scale") or ()
    )


def _is_thrown(token: Any) -> bool:
    """By a transformation: far away, or to nothing."""
    if token.type != "function":
        return False
    if token.lower_name.startswith("scale"):
        return _is_scaled_away(token.arguments)
    if not token.lower_name.startswith("translate"):
        return False
    moves = [length(one, of=100.0) for one in token.arguments]
    return any(abs(move) >= 4 * _OUTSIDE for move in moves if move is not None)


def _is_scaled_away(tokens: Any) -> bool:
    return any(token.type == "number" and abs(token.value) < 0.05 for token in tokens)


def _is_cut_away(look: Look) -> bool:
    if _is_clipped(look):
        return True
    if look.word("overflow") not in ("hidden", "clip"):
        return False
    padded = any((look.pixels(f"padding-{side}", 100.0) or 0) > 1 for side in ("top", "bottom"))
    least = {side: look.pixels(f"min-{side}") or 0.0 for side in ("height", "width")}
    for name in ("height", "max-height", "width", "max-width"):
        side = name.removeprefix("max-")
        size = look.pixels(name, of=100.0)
        if size is not None and size <= 1 and least[side] <= 1:
            return not (padded and side == "height")
    return False


def _is_clipped(look: Look) -> bool:
    for token in look.own.get("clip") or ():
        if token.type == "function" and token.lower_name == "rect":
            return _is_nothing([one for one in token.arguments if _is_a_size(one)])
    for token in look.own.get("clip-path") or ():
        if token.type != "function":
            continue
        sizes = [length(one, of=100.0) for one in token.arguments if _is_a_size(one)]
        known = [size for size in sizes if size is not None]
        if token.lower_name == "inset" and known and known[0] >= 50:
            return True
        if token.lower_name in ("circle", "ellipse", "polygon") and known and not any(known):
            return True
    return False


def _is_a_size(token: Any) -> bool:
    return token.type in ("number", "dimension", "percentage")


def _is_nothing(sizes: list[Any]) -> bool:
    """Of a rectangle by its top, right, bottom and left."""
    if len(sizes) != 4:
        return False
    top, right, bottom, left = (length(size) or 0.0 for size in sizes)
    return bottom - top <= 1 or right - left <= 1
