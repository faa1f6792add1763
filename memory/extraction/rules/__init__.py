"""The built-in observer: plain first-person statements in English, found without a model.

Precise rather than eager. What it finds is always pending, and says that rules found it.
"""

from memory.extraction.rules.observe import observe

__all__ = ["observe"]
