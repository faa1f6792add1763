"""Word lists are easier to read and to extend as running text."""


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """One phrase a line; blank lines only part the groups."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())
