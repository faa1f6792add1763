"""Is a candidate only what recall or a digest's own header put into the conversation?"""

from memory.policy.values import PolicyContext, WindowMessage
from memory.text.lists import listed
from memory.text.normal import normalise, text_hash
from memory.text.quotes import find_quotes
from memory.text.typed import is_typed, tagged_blocks
from memory.text.words import words

# A header names the mission; a discovery that only says it again has little of its own.
HEADER_OVERLAP = 0.7
# A quote that makes up this much of a recalled statement is that statement, cut a little.
QUOTE_SHARE = 0.8
# And the fences ahead of it: see memory/recall/ahead.py.
_MEMORY_TAGS = frozenset({"memory", "memories", "rules", "hints"})
_SMALL_WORDS = listed("""
    a an the and or of in on at to for with from by as is are was were has have had that this it
    user user's users its their his her der die das ein eine le la les un une el los las
""")


def is_recalled_echo(
    statement: str, sources: list[tuple[WindowMessage, str]], ctx: PolicyContext
) -> bool:
    """`sources` are messages with the quotes from them.

    Saying a recalled thing again in words of one's own is no echo: that reinforces. A pasted
    memory block is one, whatever is in it and whichever conversation it came from.
    """
    if any(_in_memory_block(message.content, quote) for message, quote in sources):
        return True
    known = {text_hash(recalled) for recalled in ctx.recalled}
    if text_hash(statement) not in known:
        return False
    return not any(_own_words(message, quote, ctx) for message, quote in sources)


def is_header_echo(statement: str, headers: tuple[str, ...]) -> bool:
    said = [word for word in words(statement) if word not in _SMALL_WORDS]
    if not said:
        return False
    written = {word for header in headers for word in words(header)}
    return sum(word in written for word in said) > HEADER_OVERLAP * len(said)


def _own_words(message: WindowMessage, quote: str, ctx: PolicyContext) -> bool:
    typed = message.is_owner_speech and any(
        is_typed(message.content, *found) for found in find_quotes(message.content, quote)
    )
    return typed and not any(_repeats(quote, recalled) for recalled in ctx.recalled)


def _repeats(quote: str, recalled: str) -> bool:
    said, known = normalise(quote), normalise(recalled)
    return known in said or (said in known and len(said) > QUOTE_SHARE * len(known))


def _in_memory_block(content: str, quote: str) -> bool:
    """Wherever the quote stands, it stands in such a block."""
    blocks = [block[1:] for block in tagged_blocks(content) if block[0] in _MEMORY_TAGS]
    places = list(find_quotes(content, quote)) if blocks else []
    return bool(places) and all(
        any(start < end_ and begin < end for start, end in blocks) for begin, end_ in places
    )
