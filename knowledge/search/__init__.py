"""Documents searched by a tool, and read on from what it found."""

from knowledge.search.service import Found, search_kb

__all__ = ["Found", "search_kb"]
