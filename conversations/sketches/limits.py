"""How much of a conversation's notes there may be, and for how long."""

from datetime import timedelta

SECTION = 2_000  # characters of one section
WHOLE = 12_000  # characters of all of them together
SECTIONS = 24
KEY = r"^[a-z0-9][a-z0-9_-]{0,39}$"
# Without a message and without a change of its notes a conversation is over after so long.
IDLE = timedelta(days=30)
