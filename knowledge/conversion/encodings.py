"""In which encoding a text is written, by its bytes."""

# Bytes that tell.
_SAMPLE, _LONGEST_SAMPLE = 8192, 200_000
# Of fewer bytes that are not ASCII nothing can be guessed but that they are Western.
_TELLING = 12
# Characters of UTF-8 for each broken one: by chance hardly any comes about.
_GOOD_FOR_A_BAD = 3
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
_PLAIN_CONTROLS = "\t\n\r\f\b\x1b"


def decoded(content: bytes) -> str:
    encoding = marked_or_wide(content)
    if encoding:
        return content.decode(encoding, errors="replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return _guessed(content)


def marked_or_wide(content: bytes) -> str:
    """What its first bytes say, or that every other byte is nothing; empty where neither tells."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    return _wide(content[: _SAMPLE // 2 * 2])


def narrowed(head: bytes) -> bytes:
    """The same in UTF-8, where it is marked or wide."""
    encoding = marked_or_wide(head)
    return head.decode(encoding, errors="ignore").encode() if encoding else head


def is_text(head: bytes) -> bool:
    """A byte of nothing may get into a text; what is no text is full of such."""
    content = narrowed(head).rstrip(b"\0")
    if b"\0" not in content:
        return True
    controls = sum(byte < 32 and chr(byte) not in _PLAIN_CONTROLS for byte in content)
    return controls <= max(1, len(content) // 100)


def _wide(head: bytes) -> str:
    """UTF-16 without its mark, of a script whose characters have few bits."""
    places = len(head) // 2
    for zeros, others, encoding in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
        if head[zeros::2].count(0) > places * 0.4 and head[others::2].count(0) < places * 0.05:
            return encoding if _reads_well(head.decode(encoding, errors="replace")) else ""
    return ""


def _reads_well(text: str) -> bool:
    bad = sum(char == "\ufffd" or (char < " " and char not in _PLAIN_CONTROLS) for char in text)
    return bad <= len(text) // 100


def _guessed(content: bytes) -> str:
    text = content.decode(errors="replace")
    bad = text.count("\ufffd")
    if len(text) - len(text.encode("ascii", errors="ignore")) - bad >= _GOOD_FOR_A_BAD * bad:
        return text
    # Only lines that tell: the first of a long text may be all ASCII.
    told = b"".join(line for line in content.splitlines(keepends=True) if not line.isascii())
    if len(told.translate(None, bytes(range(128)))) < _TELLING and (western := _western(content)):
        return western
    return content.decode(_likeliest(told[:_LONGEST_SAMPLE]), errors="replace")


def _western(content: bytes) -> str:
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return ""


def _likeliest(told: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(told).best()
    return best.encoding if best else "cp1252"
