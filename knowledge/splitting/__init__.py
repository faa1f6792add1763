"""Converted text cut into passages. Pure."""

from knowledge.splitting.pieces import Piece, split
from knowledge.splitting.vectors import embedded_as

__all__ = ["Piece", "embedded_as", "split"]
