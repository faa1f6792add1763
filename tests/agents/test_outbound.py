import gzip
import socket
import ssl
from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from typing import Any

import pytest
import trustme
from pytest_django import Settings

from agents import outbound
from agents.outbound import Refused, Unreachable, fetch, wire
from tests.web_server import Page, WebServer, serving

LOOKED_UP = socket.getaddrinfo


@pytest.fixture
def web(settings: Settings) -> Iterator[WebServer]:
    """On 127.0.0.2, which alone may be asked."""
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.2/32")]
    with serving("127.0.0.2") as server:
        yield server


def names(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Sequence[str]]) -> list[str]:
    """A name server that gives each name's answers one after the other; who was looked up."""
    asked: list[str] = []

    def lookup(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host not in answers:
            return LOOKED_UP(host, port, *rest, **more)
        told = answers[host][min(asked.count(host), len(answers[host]) - 1)]
        asked.append(host)
        return [entry for each in told.split() for entry in LOOKED_UP(each, port, *rest, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return asked


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "localhost",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0",
            "0.0.0.0",  # noqa: S104
        ),
        *("10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.8"),
        *("198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::127.0.0.1]"),
        *("[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2001:0:1::1]"),
        *("[fe80::1]", "[fec0::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]"),
        *("127。0。0。1", "127.0.0.1", "①②⑦.0.0.1"),
    ],
)
def test_a_machine_that_is_not_public_is_never_asked(host: str) -> None:
    with pytest.raises(Refused, match=r"private network|isn't an address|No server of that name"):
        fetch(f"http://{host}:8080/", timeout=2)


@pytest.mark.parametrize(
    "machine",
    ["93.184.215.14", "8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"],
)
def test_a_public_machine_may_be_asked(machine: str) -> None:
    assert outbound.places.machines(machine, 443)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://example.org/", "begins with"),
        ("file:///etc/passwd", "begins with"),
        ("gopher://example.org:70/", "begins with"),
        ("//example.org/", "begins with"),
        ("example.org", "begins with"),
        ("http://", "names no server"),
        ("http://user:pw@example.org/", "user name"),
        ("http://example.org@127.0.0.1/", "user name"),
        ("http://example.org:22/", "ports under 1024"),
        ("http://example.org:99999/", "port|address"),
        ("http://example.org/" + "a" * 2000, "longer than"),
        ("http://exa mple.org\r\n/", "isn't an address"),
    ],
)
def test_an_address_that_is_none_is_refused_before_anything_is_looked_up(
    address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a name was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    with pytest.raises(Refused, match=message):
        fetch(address)


def test_a_name_that_changes_its_mind_gains_nothing(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.script("/", Page(b"fine"))
    asked = names(monkeypatch, {"rebinds.example": ["127.0.0.2", "127.0.0.1"]})
    answer = fetch(web.url(host="rebinds.example"))
    assert answer.content == b"fine"
    assert asked == ["rebinds.example"]
    assert web.requests[0].headers["host"] == f"rebinds.example:{web.port}"
    with pytest.raises(Refused, match="private network"):
        fetch(web.url(host="rebinds.example"))


def test_one_private_machine_among_several_rules_a_name_out(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {"mixed.example": ["127.0.0.2 10.0.0.1"]})
    with pytest.raises(Refused, match="private network"):
        fetch(web.url(host="mixed.example"))
    assert web.requests == []


def test_a_redirect_is_checked_like_any_address(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {"inside.example": ["127.0.0.1"]})
    with serving("127.0.0.1") as trap:
        for target in (trap.url(), trap.url(host="inside.example"), "file:///etc/passwd"):
            web.script("/", Page(status=302, headers={"Location": target}))
            with pytest.raises(Refused, match=r"private network|begins with"):
                fetch(web.url(), follow=5)
        assert len(web.requests) == 3
        assert trap.requests == []
    assert fetch(web.url(), follow=0).status == 302


def test_redirects_are_followed_so_many_times(web: WebServer) -> None:
    web.script("/a", Page(status=307, headers={"Location": "/b?c#d"}))
    web.script("/b?c", Page(status=303, headers={"Location": "/end"}))
    web.script("/end", Page(b"here"))
    answer = fetch(web.url("/a"), method="POST", content=b"x", follow=2)
    assert (answer.content, answer.url) == (b"here", web.url("/end"))
    assert [(asked.method, asked.body) for asked in web.requests] == [
        ("POST", b"x"),
        ("POST", b"x"),
        ("GET", b""),
    ]
    with pytest.raises(Refused, match="more than 1 times"):
        fetch(web.url("/a"), follow=1)


def test_what_one_server_may_know_another_is_not_told(web: WebServer, settings: Settings) -> None:
    with serving("127.0.0.2") as other:
        web.script("/", Page(status=302, headers={"Location": other.url()}))
        other.script("/", Page(b"ok"))
        fetch(web.url(), headers={"Authorization": "Bearer secret", "X-Plain": "1"}, follow=1)
        assert web.requests[0].headers["authorization"] == "Bearer secret"
        assert "authorization" not in other.requests[0].headers
        assert other.requests[0].headers["x-plain"] == "1"


@pytest.mark.parametrize("page", [Page(hangs=True), Page(drips=True)])
def test_a_server_that_takes_its_time_is_left(web: WebServer, page: Page) -> None:
    web.script("/", page)
    with pytest.raises(Unreachable, match=r"within 0\.3 seconds"):
        fetch(web.url(), timeout=0.3)


def test_a_long_answer_is_refused_packed_or_not(web: WebServer) -> None:
    web.script("/long", Page(b"x" * 1001))
    packed = {"Content-Encoding": "gzip"}
    web.script("/bomb", Page(gzip.compress(b"x" * 3_000_000), headers=packed))
    web.script("/packed", Page(gzip.compress(b"small"), headers=packed))
    web.script("/odd", Page(b"??", headers={"Content-Encoding": "br"}))
    for path in ("/long", "/bomb"):
        with pytest.raises(Refused, match="longer than 1,000 bytes"):
            fetch(web.url(path), most_bytes=1000)
    assert fetch(web.url("/packed"), most_bytes=1000).content == b"small"
    assert fetch(web.url("/long"), most_bytes=None).content == b""
    with pytest.raises(Refused, match="packed"):
        fetch(web.url("/odd"))


def test_what_is_away_now_may_be_there_later(settings: Settings) -> None:
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.2/32")]
    with socket.create_server(("127.0.0.2", 0)) as taken:
        port = taken.getsockname()[1]
    for address in (f"http://127.0.0.2:{port}/", "http://nobody.invalid/"):
        with pytest.raises(Unreachable):
            fetch(address, timeout=5)


def test_proxies_of_the_environment_are_not_used(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.script("/", Page(b"direct"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert fetch(web.url()).content == b"direct"


@pytest.fixture
def authority(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[trustme.CA]:
    found = trustme.CA()
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    found.cert_pem.write_to_path(str(path))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    wire._certificates.cache_clear()
    yield found
    wire._certificates.cache_clear()


def test_the_certificate_must_be_for_the_name_that_was_asked(
    authority: trustme.CA, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.2/32")]
    names(monkeypatch, {"good.example": ["127.0.0.2"], "other.example": ["127.0.0.2"]})
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("good.example").configure_cert(tls)
    said: list[str | None] = []
    tls.sni_callback = lambda _socket, name, _context: said.append(name)
    with serving("127.0.0.2", tls) as server:
        server.script("/", Page(b"sealed"))
        assert fetch(server.url(host="good.example")).content == b"sealed"
        assert said == ["good.example"]
        for host in ("other.example", "127.0.0.2"):
            with pytest.raises(Unreachable, match="certificate"):
                fetch(server.url(host=host))
