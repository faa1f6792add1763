"""Originals to Markdown. The readers run in a process of their own, which may use so much memory
and time and no network (`process.convert`); the application itself runs none of them."""
