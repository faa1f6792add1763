"""Documents from the web: what an address answers with, if it can be read as a document."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message as Headers
from urllib.parse import unquote, urlsplit

from django.conf import settings

from agents import outbound
from agents.outbound import Answer, Refused, Unreachable

__all__ = ["Fetched", "Refused", "Unreachable", "clean_address", "fetched"]

HTML, TEXT, PDF = "text/html", "text/plain", "application/pdf"
OFFICE = "application/vnd.openxmlformats-officedocument"
ENDINGS = {
    HTML: ".html",
    PDF: ".pdf",
    TEXT: ".txt",
    "text/markdown": ".md",
    f"{OFFICE}.wordprocessingml.document": ".docx",
    f"{OFFICE}.presentationml.presentation": ".pptx",
    f"{OFFICE}.spreadsheetml.sheet": ".xlsx",
    "application/epub+zip": ".epub",
    "message/rfc822": ".eml",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/tiff": ".tiff",
    "image/webp": ".webp",
}
SAME_AS = {
    "application/xhtml+xml": HTML,
    "text/x-markdown": "text/markdown",
    "application/x-pdf": PDF,
}
# Servers that know no better say one of these of anything.
UNKNOWN = ("", "application/octet-stream", "binary/octet-stream", "application/force-download")
ACCEPT = "text/html, application/pdf, text/markdown, text/plain, */*;q=0.5"
REDIRECTS, SECONDS = 5, 30
LONGEST_NAME = 120
# What may be otherwise in some minutes: too many requests, and the server's own troubles.
FOR_NOW = (408, 425, 429, 500, 502, 503, 504)
IN_WORDS = {
    401: "It asks for a name and a password, which can't be given here.",
    402: "It asks for payment.",
    403: "It lets nobody read it without signing in, or no program.",
    404: "There is no page at that address.",
    410: "The page was taken down.",
    429: "It has been asked too often.",
    451: "It may not be shown, for legal reasons.",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """`address`: where it was in the end. Text is in UTF-8, whatever it was sent in."""

    content: bytes
    media_type: str
    address: str
    file_name: str


def clean_address(text: str) -> str:
    """The address as it is stored: with its scheme, without a fragment. Looks nothing up.

    Raises Refused, whose message says what is wrong with it.
    """
    text = text.strip()
    if text and "://" not in text and not text.startswith("//"):
        text = f"https://{text}"
    return str(outbound.check(text))


def fetched(address: str) -> Fetched:
    """Raises Refused (Unreachable where another try may do); the message is for people."""
    answer = outbound.fetch(
        address,
        headers={"accept": ACCEPT},
        timeout=SECONDS,
        most_bytes=settings.KNOWLEDGE_MAX_BYTES,
        follow=REDIRECTS,
    )
    _check_status(answer.status)
    if not answer.content:
        raise Refused("It answers with nothing.")
    kind, encoding = _said_type(answer.headers)
    media_type = _media_type(kind, answer)
    return Fetched(
        content=_as_said(_in_utf8(answer.content, media_type, encoding), media_type),
        media_type=media_type,
        address=answer.url,
        file_name=file_name(answer.url, media_type),
    )


def _check_status(status: int) -> None:
    if 200 <= status < 300:
        return
    said = IN_WORDS.get(status, "It answers with an error.")
    raise (Unreachable if status in FOR_NOW else Refused)(f"{said} (HTTP {status})")


def _said_type(headers: Mapping[str, str]) -> tuple[str, str]:
    """The media type, in lower case, and the character set, as the header says them."""
    parsed = Headers()
    parsed["content-type"] = headers.get("content-type", "")
    kind = parsed.get_content_type() if headers.get("content-type", "").strip() else ""
    return kind, parsed.get_content_charset("")


def _media_type(said: str, answer: Answer) -> str:
    kind = SAME_AS.get(said, said)
    # Markdown is mostly served as plain text, and anything at all as unknown bytes.
    if kind == TEXT or kind in UNKNOWN:
        kind = _by_name(answer.url) or (TEXT if kind == TEXT else _by_look(answer.content))
    if kind not in ENDINGS:
        what = said or "something that it doesn't name"
        raise Refused(f"It answers with {what}, which can't be read as a document.")
    return kind


def _by_name(address: str) -> str:
    path = urlsplit(address).path.lower()
    return next((kind for kind, ending in ENDINGS.items() if path.endswith(ending)), "")


def _by_look(content: bytes) -> str:
    head = content[:1024].lstrip().lower()
    if head.startswith(b"%pdf-"):
        return PDF
    return HTML if head.startswith((b"<!doctype html", b"<html")) else ""


def _in_utf8(content: bytes, media_type: str, encoding: str) -> bytes:
    """As the header says; a page that names its encoding only in itself is left to the reader."""
    if not media_type.startswith("text/") or not encoding:
        return content
    try:
        if codecs.lookup(encoding).name == "utf-8":
            return content
        return content.decode(encoding, errors="replace").encode()
    except (LookupError, ValueError):
        return content


def _as_said(content: bytes, media_type: str) -> bytes:
    """What a file is, is seen by how it begins; a piece of HTML begins in any way."""
    is_plain = media_type == HTML and _by_look(content) != HTML
    return b"<!doctype html>\n" + content if is_plain else content


def file_name(address: str, media_type: str) -> str:
    """A name for the original: the last part of the path, or the server's."""
    parts = urlsplit(address)
    last = unquote(parts.path.rstrip("/").rsplit("/", 1)[-1])
    stem = "".join(char for char in last if char.isprintable() and char not in '/\\:*?"<>|')
    stem = stem.strip(". ")[:LONGEST_NAME] or parts.hostname or "page"
    ending = ENDINGS[media_type]
    return stem if stem.lower().endswith(ending) else f"{stem}{ending}"
