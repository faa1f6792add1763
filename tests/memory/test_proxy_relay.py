"""An answer on its way through, without the web server around it."""

import httpx2
import pytest
from pytest_django import Settings

from memory.proxy.answers import Answer, Streamed
from memory.proxy.relay import BrokenOff, Busy, Relay, Slot
from memory.proxy.upstream import headers_back
from tests.upstream_server import scripted_upstream, streams


@pytest.mark.parametrize("end", [True, False])
def test_an_answer_that_breaks_off_is_cut_and_only_kept_if_all_was_said(end: bool) -> None:
    over: list[Answer] = []
    with scripted_upstream() as upstream, httpx2.Client() as client:
        upstream.script(streams("All ", "of it.", end=end, breaks=True))
        asked = client.build_request("POST", f"{upstream.url}/chat/completions", content=b"{}")
        relay = Relay(client.send(asked, stream=True), Streamed(), over.append)
        with pytest.raises(BrokenOff):
            list(relay)
        relay.close()
        relay.close()
    assert over == [Answer(whole=True, text="All of it.") if end else Answer(whole=False)]


def test_a_place_that_nobody_gave_back_is_free_again(settings: Settings) -> None:
    settings.UPSTREAM_STREAMS = 1
    slot = Slot()
    with pytest.raises(Busy):
        Slot()
    del slot
    Slot().free()


def test_of_the_head_only_what_clients_read_comes_back() -> None:
    """What the model server says beyond that is between it and its operator, or about its own
    address: whatever it invents next stays there too."""
    read = {
        "content-type": "application/json",
        "content-length": "2",
        "retry-after": "7",
        "retry-after-ms": "70",
        "x-should-retry": "false",
        "x-request-id": "req_1",
        "x-ratelimit-remaining-tokens": "9",
        "openai-processing-ms": "4",
        "openai-version": "2020-10-01",
    }
    kept_back = {
        "set-cookie": "a=1",
        "server": "theirs",
        "access-control-allow-origin": "*",
        "openai-organization": "acme",
        "openai-project": "secret",
        "connection": "keep-alive",
        "strict-transport-security": "max-age=1",
        "clear-site-data": "*",
        "link": "</x>; rel=preload",
        "x-remembrancer-memory": "told",
        "x-powered-by": "theirs",
    }
    answer = httpx2.Response(200, headers=read | kept_back, content=b"{}")
    assert dict(headers_back(answer)) == read
