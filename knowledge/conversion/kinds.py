"""What a file is, by its content. Its name and what a client says of it prove nothing."""

import re
import zipfile
from enum import StrEnum
from pathlib import Path

from knowledge.conversion import encodings
from knowledge.conversion.shape import DAMAGED, PROTECTED, Unreadable


class Kind(StrEnum):
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    EPUB = "application/epub+zip"
    HTML = "text/html"
    MAIL = "message/rfc822"
    TEXT = "text/markdown"
    PNG = "image/png"
    JPEG = "image/jpeg"
    GIF = "image/gif"
    TIFF = "image/tiff"
    BMP = "image/bmp"
    WEBP = "image/webp"


IMAGES = (Kind.PNG, Kind.JPEG, Kind.GIF, Kind.TIFF, Kind.BMP, Kind.WEBP)
READABLE = (
    "PDF, Word (.docx), PowerPoint (.pptx), Excel (.xlsx), EPUB, HTML, Markdown, plain text,"
    " mail (.eml) and images can be read."
)
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": Kind.PNG,
    b"\xff\xd8\xff": Kind.JPEG,
    b"GIF87a": Kind.GIF,
    b"GIF89a": Kind.GIF,
    b"II*\x00": Kind.TIFF,
    b"MM\x00*": Kind.TIFF,
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAIN_PARTS = {
    "word/document.xml": Kind.DOCX,
    "ppt/presentation.xml": Kind.PPTX,
    "xl/workbook.xml": Kind.XLSX,
}
_HTML = re.compile(
    rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HEADER = re.compile(
    rb"^(received|return-path|from|to|date|subject|message-id|mime-version|delivered-to):", re.I
)
_ANY_HEADER = re.compile(rb"[a-z][\w-]{0,60}:", re.I)
_SNIFFED = 8192


def kind_of(path: Path) -> Kind:
    """Raises Unreadable."""
    with path.open("rb") as file:
        head = file.read(_SNIFFED)
    if not head.strip(b"\x00 \t\r\n"):
        raise Unreadable("empty", "The file is empty.")
    for beginning, kind in _BEGINNINGS.items():
        if head.startswith(beginning):
            return kind
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return Kind.WEBP
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return Kind.BMP
    if _is_pdf(head[:1024]):
        return Kind.PDF
    if head.startswith(_OLE):
        raise _old_office(path)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _kind_of_pack(path)
    return _kind_of_text(head)


def _is_pdf(head: bytes) -> bool:
    """Something may stand before its mark, but not a text that only speaks of it."""
    if head.lstrip().startswith(b"%PDF-"):
        return True
    return b"%PDF-" in head and any(byte > 126 or byte < 9 for byte in head)


def _kind_of_text(head: bytes) -> Kind:
    if not encodings.is_text(head) or head.startswith(b"{\\rtf"):
        raise Unreadable("unsupported", f"This kind of file can't be read. {READABLE}")
    head = encodings.narrowed(head)
    if _HTML.match(head):
        return Kind.HTML
    top = head.lstrip().split(b"\n\n")[0].split(b"\r\n\r\n")[0].splitlines()
    headers = {found[1].lower() for line in top if (found := _HEADER.match(line))}
    if len(headers) >= 3 and b"from" in headers and _ANY_HEADER.match(top[0]):
        return Kind.MAIL
    return Kind.TEXT


def _kind_of_pack(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as pack:
            names = set(pack.namelist())
            if "mimetype" in names:
                with pack.open("mimetype") as said:
                    if said.read(64).strip() == b"application/epub+zip":
                        return Kind.EPUB
    except RuntimeError as error:  # zipfile's own way of saying that it wants a password
        raise Unreadable("protected", PROTECTED) from error
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, ValueError) as error:
        raise Unreadable("damaged", DAMAGED) from error
    for part, kind in _MAIN_PARTS.items():
        if part in names:
            return kind
    raise Unreadable(
        "unsupported", f"This is a packed file of another kind: unpack it first. {READABLE}"
    )


def _old_office(path: Path) -> Unreadable:
    """What Office encrypts it puts into a container of the old kind."""
    with path.open("rb") as file:
        head = file.read(4_000_000)
    if "EncryptedPackage".encode("utf-16-le") in head:
        return Unreadable("protected", PROTECTED)
    return Unreadable(
        "unsupported",
        "This is a file of the old Office kind (.doc, .xls, .ppt, .msg). Save it as .docx, .xlsx,"
        " .pptx or .eml and add that.",
    )
