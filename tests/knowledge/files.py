"""Files of every kind, made as small as they can be: honest ones, and such as mean harm."""

import io
import struct
import zipfile
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def png(text: str, size: tuple[int, int] = (420, 60)) -> bytes:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((12, 12), text, fill="black", font_size=30)
    return _saved(image, "PNG")


def scanned_pdf(text: str) -> bytes:
    """A page that is a picture, without a text layer."""
    from PIL import Image

    page = Image.new("RGB", (440, 160), "white")
    with Image.open(io.BytesIO(png(text))) as line:
        page.paste(line, (10, 40))
    return _saved(page, "PDF")


def long_scan() -> bytes:
    """Pages of many words each: minutes of work."""
    from PIL import Image, ImageDraw

    page = Image.new("RGB", (900, 1200), "white")
    for line in range(38):
        ImageDraw.Draw(page).text(
            (20, 30 * line), "words and words and words", font_size=24, fill=0
        )
    kept = io.BytesIO()
    page.save(kept, "TIFF", save_all=True, append_images=[page] * 12, compression="tiff_lzw")
    return kept.getvalue()


def _saved(image: Any, kind: str) -> bytes:
    kept = io.BytesIO()
    image.save(kept, kind)
    return kept.getvalue()


def pdf(
    pages: Sequence[str],
    *,
    outline: Sequence[tuple[str, int]] = (),
    more: str = "",
    xref: bool = True,
) -> bytes:
    """Lines of text on pages; `outline`: titles and page numbers from 0. `more` goes into the
    trailer."""
    objects: list[bytes] = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for page in pages:
        lines = " ".join(f"({_escaped(line)}) Tj T*" for line in page.split("\n"))
        stream = f"BT /F1 12 Tf 14 TL 40 740 Td {lines} ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
    root = len(objects) + 1
    for number, (title, place) in enumerate(outline):
        here = root + 1 + number
        nearby = f" /Next {here + 1} 0 R" if number + 1 < len(outline) else ""
        objects += [b""] if number == 0 else []
        objects.append(
            f"<< /Title ({title}) /Parent {root} 0 R /Dest [{kids[place]} 0 R /Fit]{nearby}"
            " >>".encode()
        )
    marks = f" /Outlines {root} 0 R" if outline else ""
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R{marks} >>".encode()
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
    if outline:
        last = root + len(outline)
        objects[root - 1] = f"<< /Type /Outlines /First {root + 1} 0 R /Last {last} 0 R >>".encode()
    return _pdf_of(objects, more, xref)


def drawn_pdf(content: str, form: str = "") -> bytes:
    """A page of drawing operators, with the font F1 and a picture P of black and white stripes;
    `form`: those of a form X."""
    fonts = b"/Font << /F1 3 0 R >>"
    stripes = bytes([0, 255] * 8)
    streams = [
        (b"", content.encode("latin-1")),
        (b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << %s >>" % fonts,
         form.encode("latin-1")),
        (b"/Type /XObject /Subtype /Image /Width 4 /Height 4 /ColorSpace /DeviceGray"
         b" /BitsPerComponent 8", stripes),
    ]  # fmt: skip
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [7 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(b"<< %s /Length %d >>\nstream\n%s\nendstream" % (head, len(stream), stream)
          for head, stream in streams),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources"
        b" << %s /XObject << /X 5 0 R /P 6 0 R >> >> >>" % fonts,
    ]  # fmt: skip
    return _pdf_of(objects, "", True)


def pictured_pdf(*pages: str, pictures: Sequence[bytes], turned: int = 0) -> bytes:
    """Pages of drawing operators, with the font F1 and `pictures` as P0, P1 and so on."""
    objects = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    objects += [_jpeg_of_a_pdf(content) for content in pictures]
    named = " ".join(f"/P{number} {number + 4} 0 R" for number in range(len(pictures)))
    kids = []
    for page in pages:
        stream = page.encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R"
            f" /Rotate {turned} /Resources << /Font << /F1 3 0 R >> /XObject << {named} >> >>"
            " >>".encode()
        )
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    listed = " ".join(kids)
    objects[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
    return _pdf_of(objects, "", True)


def _jpeg_of_a_pdf(picture: bytes) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as image:
        content = _saved(image.convert("RGB"), "JPEG")
        head = (
            f"<< /Type /XObject /Subtype /Image /Width {image.width} /Height {image.height}"
            " /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode"
            f" /Length {len(content)} >>"
        )
    return head.encode() + b"\nstream\n" + content + b"\nendstream"


def _pdf_of(objects: Sequence[bytes], more: str, xref: bool) -> bytes:
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, content in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = out.tell()
    if not xref:
        return out.getvalue() + b"xref\n0 999\ntrailer\n<< /Root 1 0 R >>\nstartxref\n7\n%%EOF"
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R %s >>\n" % (len(objects) + 1, more.encode()))
    out.write(b"startxref\n%d\n%%%%EOF" % start)
    return out.getvalue()


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def locked_pdf() -> bytes:
    """Asks for a password; there is none that fits."""
    name = "00" * 32
    lock = f"<< /Filter /Standard /V 1 /R 2 /O <{name}> /U <{name}> /P -4 >>"
    return pdf(["secret"], more=f"/Encrypt {lock} /ID [<{name[:32]}> <{name[:32]}>]")


def pack(parts: dict[str, str | bytes]) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in parts.items():
            zipped.writestr(name, content)
    return kept.getvalue()


def packed_with(content: bytes, name: str, head: str, encoding: str = "utf-8") -> bytes:
    """The same pack, with a part that has another beginning."""
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        parts: dict[str, str | bytes] = {part: zipped.read(part) for part in zipped.namelist()}
        text = zipped.read(name).decode()
    body = text.partition("?>")[2] if text.startswith("<?xml") else text
    return pack(parts | {name: (head + body).encode(encoding)})


def docx(
    body: str,
    *,
    images: Sequence[bytes] = (),
    title: str = "",
    head: str = "",
    more: dict[str, str | bytes] | None = None,
) -> bytes:
    """`body`: paragraphs in Word's own XML (`paragraph`, `picture`). `head`: before its root.
    `more`: further parts."""
    links = "".join(
        f'<Relationship Id="image{n}" Type="{RELATIONS}/image" Target="media/{n}.png"/>'
        for n in range(len(images))
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="png" ContentType="image/png"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a"'
        f' Type="{RELATIONS}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}'
        "</Relationships>",
        "word/document.xml": f'{head}<w:document xmlns:w="{WORD}" xmlns:r="{RELATIONS}"'
        ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
        ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
        ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture">'
        f"<w:body>{body}</w:body></w:document>",
    }
    if title:
        parts["docProps/core.xml"] = (
            f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties"'
            f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>'
            "</cp:coreProperties>"
        )
    parts |= {f"word/media/{number}.png": image for number, image in enumerate(images)}
    return pack(parts | (more or {}))


def paragraph(text: str, style: str = "") -> str:
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{look}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def picture(number: int, caption: str) -> str:
    return (
        f'<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="p" descr="{caption}"/>'
        "<a:graphic><a:graphicData><pic:pic><pic:blipFill>"
        f'<a:blip r:embed="image{number}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r></w:p>"
    )


def pptx(*titles: str) -> bytes:
    from pptx import Presentation

    slides = Presentation()
    for title in titles:
        slide = slides.slides.add_slide(slides.slide_layouts[5])
        slide.shapes.title.text = title
    kept = io.BytesIO()
    slides.save(kept)
    return kept.getvalue()


def xlsx(**sheets: Sequence[Sequence[object]]) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if name.startswith("hidden"):
            sheet.sheet_state = "hidden"
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def epub(title: str, *chapters: str, more: dict[str, str | bytes] | None = None) -> bytes:
    names = [f"c{number}.xhtml" for number in range(len(chapters))]
    listed = "".join(f'<item id="{name}" href="{name}"/>' for name in names)
    order = "".join(f'<itemref idref="{name}"/>' for name in names)
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="o/book.opf"/>'
        "</rootfiles></container>",
        "o/book.opf": '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>{title}</dc:title></metadata><manifest>{listed}</manifest>"
        f"<spine>{order}</spine></package>",
    }
    parts |= {f"o/{name}": text for name, text in zip(names, chapters, strict=True)}
    return pack(parts | (more or {}))


def eml(subject: str, text: str = "", html: str = "", attached: Sequence[str] = ()) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ann <ann@example.org>", "bob@example.org", subject
    mail["Date"] = "Mon, 02 Mar 2026 09:00:00 +0000"
    if text:
        mail.set_content(text)
    if html:
        (mail.add_alternative if text else mail.set_content)(html, subtype="html")
    for name in attached:
        mail.add_attachment(b"x", maintype="application", subtype="pdf", filename=name)
    return mail.as_bytes()


def bomb(inner: str = "word/document.xml", size: int = 60_000_000) -> bytes:
    """60 MB of nothing, in 60 kB."""
    return pack({inner: b"\0" * size})


def pdf_bomb() -> bytes:
    """A page whose drawing is 3 GB of blanks, packed twice into 5 kB."""
    import zlib

    packer = zlib.compressobj(9)
    once = b"".join(packer.compress(b" " * 1_000_000) for _ in range(3_000)) + packer.flush()
    twice = zlib.compress(once, 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream"
        % (len(twice), twice),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R >>",
    ]
    return _pdf_of(objects, "", True)


def lying_bomb() -> bytes:
    """Says of 60 MB that they are ten bytes."""
    content = bytearray(bomb())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.rindex(mark) if mark == b"PK\x01\x02" else content.index(mark)
        content[at + place : at + place + 4] = struct.pack("<I", 10)
    return bytes(content)


def locked_pack() -> bytes:
    """A Word file whose directory says that it is encrypted."""
    content = bytearray(docx(paragraph("secret")))
    at = 0
    while (at := content.find(b"PK\x01\x02", at)) >= 0:
        content[at + 8] |= 1
        at += 4
    at = 0
    while (at := content.find(b"PK\x03\x04", at)) >= 0:
        content[at + 6] |= 1
        at += 4
    return bytes(content)


def locked_office() -> bytes:
    """What Office makes of a file with a password: a container of the old kind."""
    return OLD_OFFICE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le")


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "lol">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">'
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


def large_image() -> bytes:
    """A PNG of 30,000 by 30,000 pixels that says so and has none of them."""
    import zlib

    def chunk(kind: bytes, content: bytes) -> bytes:
        whole = kind + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def kept(folder: Path, content: bytes) -> Path:
    path = folder / "original"
    path.write_bytes(content)
    return path
