"""The texts whose vectors a passage is found by."""

from memory import tokens

# The packaged model reads 256 word pieces, of which English has about 1.2 for a token of o200k;
# what is beyond is not in the vector. So a passage has a vector for each of its parts.
PART = 200
CRUMB = 48


def breadcrumb(title: str, headings: tuple[str, ...] | list[str], most: int = CRUMB) -> str:
    """Title and headings, once each, in so many tokens; of a long path the ends say most."""
    names = list(dict.fromkeys(name for name in (title.strip(), *headings) if name))
    crumb = " > ".join(names)
    while len(names) > 2 and tokens.count(crumb) > most:
        del names[1]
        crumb = " > ".join(names)
    return crumb if tokens.count(crumb) <= most else crumb[: most * 2]


def embedded_as(title: str, headings: tuple[str, ...] | list[str], text: str) -> list[str]:
    """One text for each part, with the breadcrumb ahead."""
    from semantic_text_splitter import TextSplitter

    crumb = breadcrumb(title, headings)
    parts = -(-tokens.count(text) // PART)
    if parts > 1:
        even = -(-tokens.count(text) // parts)
        found = TextSplitter.from_callback(tokens.count, (even, PART)).chunks(text)
    else:
        found = [text]
    return [f"{crumb}\n{part}" if crumb else part for part in found]
