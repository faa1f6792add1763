"""A mail: its headers, its text, and the names of what is attached to it."""

from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from pathlib import Path

from knowledge import marks
from knowledge.conversion import html
from knowledge.conversion.encodings import decoded
from knowledge.conversion.images import Reader
from knowledge.conversion.shape import DAMAGED, HIDDEN, Read, Tell, Unreadable

_TOLD = ("From", "To", "Cc", "Date")
_ATTACHED = "What is attached to a mail is not read: add it by itself."


def read(path: Path, tell: Tell) -> Read:
    reader = Reader()
    with path.open("rb") as file:
        try:
            mail = BytesParser(policy=policy.default).parse(file)
            body, hidden = _body(mail, reader)
            parts = [_head(mail), body, _attached(mail)]
        except (ValueError, LookupError, IndexError, AttributeError, TypeError) as error:
            # What the parser's lazy headers and charsets raise over mails that break the rules.
            raise Unreadable("damaged", DAMAGED) from error
    if not parts[1].strip():
        raise Unreadable("empty", "There is no text in the mail.")
    notes = [*([_ATTACHED] if parts[2] else []), *reader.notes, *[HIDDEN] * hidden]
    return Read("\n\n".join(part for part in parts if part), title=_one_line(mail["Subject"]),
                notes=notes)  # fmt: skip


def _head(mail: EmailMessage) -> str:
    lines = [f"# {_one_line(mail['Subject'])}", ""] if mail["Subject"] else []
    lines += [f"- {name}: {_one_line(mail[name])}" for name in _TOLD if mail[name]]
    return "\n".join(lines)


def _body(mail: EmailMessage, reader: Reader) -> tuple[str, bool]:
    """What a mail program would show that prefers plain text, and whether it hides something."""
    part = mail.get_body(preferencelist=("plain", "html"))
    if part is None:
        return "", False
    if part.get_content_subtype() == "html":
        content = part.get_payload(decode=True)
        page, hidden = html.seen(
            content if isinstance(content, bytes) else b"", part.get_content_charset() or ""
        )
        return html.with_images(html.to_markdown(page), reader), hidden
    return marks.foreign(_plain(part)), False


def _plain(part: MIMEPart) -> str:
    """In the encoding that it says; where there is none of that name, as its bytes tell."""
    try:
        return str(part.get_content())
    except LookupError:
        content = part.get_payload(decode=True)
        return decoded(content) if isinstance(content, bytes) else ""


def _attached(mail: EmailMessage) -> str:
    names = [_name(part) for part in mail.iter_attachments()]
    listed = "\n".join(f"- {name}" for name in names if name)
    return f"## Attached\n\n{listed}" if listed else ""


def _name(part: EmailMessage) -> str:
    """A mail that is passed on has a subject and no file name."""
    if part.get_filename() or part.get_content_type() != "message/rfc822":
        return _one_line(part.get_filename())
    return _one_line(part.get_content()["Subject"]) or "A mail"


def _one_line(value: object) -> str:
    return " ".join(marks.foreign(str(value or "")).split())
