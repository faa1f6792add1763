"""Numbers in a sentence."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """
    >>> counted(1, "window"), counted(1200, "reply", "replies")
    ('1 window', '1,200 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
