"""Documents from the web: a real server on the loopback interface, and what is refused of it."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from knowledge.web import Refused, Unreachable, clean_address, fetched, file_name

HTML = b"<!doctype html><title>Bees</title><p>Bees dance.</p>"
PDF = b"%PDF-1.7 of bees"
OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass
class Page:
    content: bytes = HTML
    kind: str = "text/html"
    status: int = 200
    location: str = ""


@dataclass
class Site:
    address: str
    pages: dict[str, Page]
    asked: list[str] = field(default_factory=list)

    def get(self, path: str) -> Any:
        return fetched(f"{self.address}{path}")


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        self.site.asked.append(self.path)
        page = self.site.pages.get(self.path, Page(b"gone", status=404))
        self.send_response(page.status)
        if page.kind:
            self.send_header("Content-Type", page.kind)
        if page.location:
            self.send_header("Location", page.location)
        self.send_header("Content-Length", str(len(page.content)))
        self.end_headers()
        self.wfile.write(page.content)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    """The operator has allowed the loopback interface, which stands for the web here."""
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.0/8")]
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    site = Site(f"http://127.0.0.1:{server.server_address[1]}", {})
    server.RequestHandlerClass.site = site  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "page", "media_type", "name"),
    [
        ("/bees", Page(), "text/html", "bees.html"),
        ("/bees.html", Page(kind="text/html; charset=UTF-8"), "text/html", "bees.html"),
        ("/x", Page(kind="application/xhtml+xml"), "text/html", "x.html"),
        ("/bees.pdf", Page(PDF, "application/pdf"), "application/pdf", "bees.pdf"),
        ("/get?id=1", Page(PDF, "application/octet-stream"), "application/pdf", "get.pdf"),
        ("/notes.md", Page(b"# Bees", "text/plain"), "text/markdown", "notes.md"),
        ("/notes", Page(b"Bees", "text/plain"), "text/plain", "notes.txt"),
        ("/page", Page(kind=""), "text/html", "page.html"),
        ("/a.docx", Page(b"PK\x03\x04", "application/octet-stream"), OFFICE, "a.docx"),
        ("/", Page(), "text/html", "127.0.0.1.html"),
    ],
)
def test_what_can_be_read_comes_with_its_kind_and_a_name(
    site: Site, path: str, page: Page, media_type: str, name: str
) -> None:
    site.pages[path] = page
    found = site.get(path)
    assert (found.content, found.media_type, found.file_name) == (page.content, media_type, name)
    assert found.address == site.address + path


def test_text_comes_in_utf_8_and_a_piece_of_html_as_html(site: Site) -> None:
    site.pages["/old"] = Page("Håkan".encode("latin-1"), "text/plain; charset=iso-8859-1")
    assert site.get("/old").content.decode() == "Håkan"
    site.pages["/odd"] = Page(b"Bees", "text/plain; charset=no-such-thing")
    assert site.get("/odd").content == b"Bees"
    site.pages["/piece"] = Page("<p>Håkan</p>".encode("latin-1"), "text/html; charset=latin1")
    assert site.get("/piece").content.decode() == "<!doctype html>\n<p>Håkan</p>"


def test_redirects_are_followed_and_where_they_led_is_told(site: Site) -> None:
    for step in range(5):
        site.pages[f"/{step}"] = Page(b"", status=302, location=f"/{step + 1}")
    site.pages["/5"] = Page()
    assert site.get("/0").address == f"{site.address}/5"
    site.pages["/5"] = Page(b"", status=302, location="/6")
    site.pages["/6"] = Page()
    with pytest.raises(Refused, match="redirects more than 5 times"):
        site.get("/0")


@pytest.mark.parametrize(
    ("page", "said", "again"),
    [
        (Page(status=404), "There is no page at that address", False),
        (Page(status=401), "asks for a name and a password", False),
        (Page(status=418), "HTTP 418", False),
        (Page(status=503), "HTTP 503", True),
        (Page(status=429), "asked too often", True),
        (Page(b"x", "video/mp4"), "video/mp4, which can't be read", False),
        (Page(b"\x00\x01", "application/octet-stream"), "application/octet-stream", False),
        (Page(b""), "answers with nothing", False),
    ],
)
def test_what_can_not_be_read_says_why_and_whether_to_try_again(
    site: Site, page: Page, said: str, again: bool
) -> None:
    site.pages["/it"] = page
    with pytest.raises(Refused, match=said) as refusal:
        site.get("/it")
    assert isinstance(refusal.value, Unreachable) == again


def test_what_is_too_large_is_not_read_to_its_end(site: Site, settings: Settings) -> None:
    settings.KNOWLEDGE_MAX_BYTES = 1000
    site.pages["/fits"] = Page(b"x" * 1000, "text/plain")
    assert len(site.get("/fits").content) == 1000
    site.pages["/long"] = Page(b"x" * 1001, "text/plain")
    with pytest.raises(Refused, match="1,000 bytes"):
        site.get("/long")


def test_a_server_that_is_gone_may_come_back(site: Site) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unreachable):
        fetched(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "2130706433", "169.254.169.254"],  # noqa: S104
)
def test_this_machine_and_its_network_are_never_asked(
    site: Site, settings: Settings, host: str
) -> None:
    settings.OUTBOUND_NETWORKS = []
    port = site.address.rsplit(":", 1)[1]
    with pytest.raises(Refused, match="private network") as refusal:
        fetched(f"http://{host}:{port}/bees")
    assert not isinstance(refusal.value, Unreachable)
    assert site.asked == []


def test_nor_by_way_of_a_redirect(site: Site, settings: Settings) -> None:
    """The first server is one of the web, 127.0.0.1 here; where it leads is not."""
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.1/32")]
    port = site.address.rsplit(":", 1)[1]
    site.pages["/away"] = Page(b"", status=302, location=f"http://127.0.0.2:{port}/secret")
    with pytest.raises(Refused, match="private network"):
        site.get("/away")
    assert site.asked == ["/away"]


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        (" example.org/a#part ", "https://example.org/a"),
        ("http://example.org", "http://example.org"),
        ("https://example.org/ä", "https://example.org/%C3%A4"),
    ],
)
def test_an_address_is_stored_without_what_no_server_sees(typed: str, stored: str) -> None:
    assert clean_address(typed) == stored


@pytest.mark.parametrize(
    "typed",
    ["", "file:///etc/passwd", "ftp://example.org", "https://me:secret@example.org", "https://",
     "javascript:alert(1)//", f"https://example.org/{'x' * 2000}"],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_refused(typed: str) -> None:
    with pytest.raises(Refused):
        clean_address(typed)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "etcpasswd.html"),
        ("/%00%0d%0aSet-Cookie:x", "Set-Cookiex.html"),
        ("/" + "y" * 300, "y" * 120 + ".html"),
        ("/..", "example.org.html"),
    ],
)
def test_a_name_from_an_address_is_a_plain_one(path: str, name: str) -> None:
    assert file_name(f"https://example.org{path}", "text/html").lstrip(".") == name
