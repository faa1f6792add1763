"""Requests to addresses that owners give: never to this machine or its private network."""

from agents.outbound.fetch import Answer, fetch
from agents.outbound.places import Refused, Unreachable, check, look

__all__ = ["Answer", "Refused", "Unreachable", "check", "fetch", "look"]
