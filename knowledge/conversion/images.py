"""What images say: by a language model that sees, where one is set up, else and where that fails
by RapidOCR, whose models are in its package."""

import hashlib
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowledge import marks
from knowledge.conversion import allowance
from knowledge.conversion.shape import DAMAGED, Read, Tell, Unreadable
from knowledge.conversion.sight import LEAST, Seen, Sight

if TYPE_CHECKING:
    from PIL.Image import Image

# Each takes seconds. Further ones are left out, and a note says so.
MOST = 300
# Pixels: of one image in all, of its long side when it is read, and what is too small for words.
MOST_PIXELS = 80_000_000
LONG_SIDE = 2000
SMALL = (40, 16)
# What the recogniser itself holds for worth reporting.
SURE = 0.5
LEFT_OUT = f"Only the first {MOST} images and scanned pages were read."
TOO_LARGE = f"Pages with a picture of more than {MOST_PIXELS:,} pixels were read without pictures."
HURRIED = "Some pictures were left out, because reading them would have taken too long."
LACKING = (
    "The server can't recognise text in images: it lacks a library of the system (on Debian:"
    " apt-get install libgl1 libglib2.0-0)."
)
_FORMATS = ("PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP")
NOTHING_SAID = "it said nothing"
# Kinds of marks with their texts.
Parts = list[tuple[str, str]]

# Set in the process that reads, where there is a model to ask.
sight: Sight | None = None


def marked(parts: Parts) -> str:
    return "".join(marks.image(marks.foreign(text), kind) for kind, text in parts)


def in_one_line(parts: Parts) -> str:
    """Where there is no room for a quote, as in a table."""
    told = (f"{marks.SAID[kind]} {marks.foreign(text)}" for kind, text in parts if text.strip())
    return " ".join(" ".join(told).split())


class Lacking(Unreadable):
    """The recogniser can't be loaded. A document that also has text does without it."""

    def __init__(self) -> None:
        super().__init__("internal", LACKING)


class Reader:
    """One for each document: counts what was read, and reads the same picture once."""

    def __init__(self) -> None:
        self.read = 0
        self.left_out = self.hurried = self.too_large = False
        self.lacking = False
        # Why the model said nothing, for each image of which it was asked in vain.
        self.unseen: list[str] = []
        self.known: dict[bytes, Parts] = {}

    def may_look(self, *, beside_text: bool) -> bool:
        """Notes it where not. What stands beside text keeps no document from being read in time."""
        hurried = beside_text and allowance.is_half_used()
        self.left_out = self.left_out or self.read >= MOST
        self.hurried = self.hurried or hurried
        return self.read < MOST and not hurried

    def within(self, content: bytes) -> Parts:
        """Of an image within a document: a broken one says nothing."""
        name = hashlib.sha256(content).digest()
        if name not in self.known:
            try:
                with opened(io.BytesIO(content)) as image:
                    self.known[name] = self.look(image, beside_text=True)
            except Unreadable:
                self.known[name] = []
        return self.known[name]

    def once(self, image: "Image") -> Parts:
        """Of a part of a page. Nothing where it stood on an earlier one, as what is behind each
        slide did."""
        name = hashlib.sha256(image.tobytes()).digest()
        if name in self.known:
            return []
        self.known[name] = self.look(image, beside_text=True)
        return self.known[name]

    def look(self, image: "Image", *, beside_text: bool = False) -> Parts:
        """What it shows and the words in it. Words that the model doesn't give are recognised.

        Makes `image` smaller. Raises Unreadable.
        """
        if image.width < SMALL[0] or image.height < SMALL[1]:
            return []
        if not self.may_look(beside_text=beside_text):
            return []
        self.read += 1
        allowance.more()
        shown = _shown(image)
        seen = self._seen(shown)
        words = (marks.READ, seen.words) if seen.words else (marks.OCR, self._recognised(shown))
        return [part for part in ((marks.VISION, seen.description), words) if part[1]]

    def _seen(self, shown: "Image") -> Seen:
        if sight is None or shown.width * shown.height < LEAST:
            return Seen()
        seen = sight.see(shown)
        if not (seen.words or seen.description):
            self.unseen.append(seen.why_not or NOTHING_SAID)
        return seen

    def _recognised(self, shown: "Image") -> str:
        try:
            return "\n".join(_lines(shown))
        except Lacking:
            self.lacking = True
            return ""

    def nothing(self, words: str) -> Unreadable:
        """What a file without a word comes to."""
        return Lacking() if self.lacking else Unreadable("empty", words)

    @property
    def notes(self) -> list[str]:
        told = {
            LEFT_OUT: self.left_out,
            HURRIED: self.hurried,
            TOO_LARGE: self.too_large,
            LACKING: self.lacking,
        }
        return [note for note, holds in told.items() if holds] + self._unseen_note()

    def _unseen_note(self) -> list[str]:
        if not self.unseen:
            return []
        count, why = len(self.unseen), self.unseen[-1].rstrip(".")
        return [
            f"The language model did not describe {count} image{'s' * (count > 1)} ({why}); what"
            " could be recognised there stands in its place."
        ]


def read(path: Path, tell: Tell) -> Read:
    """A file that is an image; of a TIFF each page."""
    reader = Reader()
    with opened(path) as image:
        frames = min(getattr(image, "n_frames", 1), MOST) if image.format == "TIFF" else 1
        parts = []
        for number in range(frames):
            image.seek(number)
            text = marked(reader.look(image.copy() if frames > 1 else image))
            parts.append((marks.page(number + 1) if frames > 1 else "") + text)
            tell(number + 1, frames)
    if not any(marks.without(part).strip() for part in parts):
        raise reader.nothing("No text could be recognised in the image.")
    return Read("\n".join(parts), pages=frames, notes=reader.notes)


def opened(source: Any) -> "Image":
    """Raises Unreadable."""
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # bounded here, in the same words as everything else
    try:
        image = Image.open(source, formats=_FORMATS)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise Unreadable("damaged", DAMAGED) from error
    if image.width * image.height > MOST_PIXELS:
        image.close()
        raise Unreadable(
            "unpacks", f"The image has more than {MOST_PIXELS // 1_000_000} million pixels."
        )
    return image


def _upright(image: "Image") -> "Image":
    from PIL import ImageOps

    return ImageOps.exif_transpose(image)


def _shown(image: "Image") -> "Image":
    """As it is to be looked at: upright, on paper, not too large."""
    try:
        image.thumbnail((LONG_SIDE, LONG_SIDE))
        return _on_white(_upright(image))
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise Unreadable("damaged", DAMAGED) from error


def _lines(shown: "Image") -> list[str]:
    import numpy as np

    found, _ = _engine()(np.asarray(shown))
    return [text for _, text, score in found or [] if float(score) >= SURE]


def _on_white(image: "Image") -> "Image":
    """What is transparent shows the paper."""
    from PIL import Image

    if image.mode not in ("RGBA", "LA", "PA", "P"):
        return image.convert("RGB")
    layer = image.convert("RGBA")
    paper = Image.new("RGBA", layer.size, "white")
    paper.alpha_composite(layer)
    return paper.convert("RGB")


@cache
def _engine() -> Any:
    try:
        from rapidocr_onnxruntime import RapidOCR
    except ImportError as fault:
        # OpenCV is linked against libGL, which a server without a screen may not have.
        if "cannot open shared object" in str(fault):
            raise Lacking from fault
        raise

    # As packaged, it blows a small strip up to 736 pixels of height, which takes ten times as long.
    return RapidOCR(
        intra_op_num_threads=1,
        inter_op_num_threads=1,
        det_limit_type="max",
        det_limit_side_len=1600,
    )
