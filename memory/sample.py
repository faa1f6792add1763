"""A picture with one word in it, by which a model shows that it sees."""

import io
from functools import cache

WORD = "LANTERN"
QUESTION = "Which word stands in the picture?"


@cache
def picture() -> bytes:
    """A JPEG."""
    from PIL import Image, ImageDraw

    page = Image.new("RGB", (448, 224), "white")
    ImageDraw.Draw(page).text((60, 80), WORD, fill="black", font_size=64)
    kept = io.BytesIO()
    page.save(kept, "JPEG")
    return kept.getvalue()
