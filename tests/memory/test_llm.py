"""The port to a language model, against a real HTTP server that misbehaves on purpose."""

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from memory import llm as port
from memory.extraction.schema import ObserverReply
from memory.llm import (
    PROMPT,
    SCHEMA,
    Completion,
    LlmBadReply,
    LlmError,
    LlmRateLimited,
    LlmRefused,
    LlmUnavailable,
    Route,
    complete,
    configured,
)
from tests.llm_server import (
    Reply,
    ScriptedLlm,
    answers,
    answers_with_object,
    fails,
    hangs_up,
    is_cut_short,
    refuses,
    says,
    scripted_llm,
    waits,
)

CANDIDATE = {
    "statement": "The user lives in Lyon.",
    "kind": "semantic",
    "confidence": 0.9,
    "tags": ["location"],
    "entities": [],
    "sources": [{"message": 1, "quote": "I live in Lyon"}],
    "validity": {"start": None, "end": None, "precision": "day"},
    "language": "en",
    "changes_behavior": True,
    "about_owner": True,
    "general_knowledge": False,
}
GOOD: dict[str, Any] = {"candidates": [CANDIDATE]}
SECRET = "Zanzibar-4711"


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with scripted_llm() as server:
        yield server


def ask(
    llm: ScriptedLlm, output: str = "tool", picture: bytes | None = None, **route: str
) -> Completion[ObserverReply]:
    values = {"name": "general", "model": "scripted", "base_url": llm.url, "api_key": "k-1"}
    return complete(
        Route(output=output, **{**values, **route}),
        "Read the window.",
        f"I live in Lyon. {SECRET}",
        ObserverReply,
        picture=picture,
    )


def broken(**changes: Any) -> dict[str, Any]:
    return {"candidates": [{**CANDIDATE, **changes}]}


def without(name: str) -> dict[str, Any]:
    return {"candidates": [{key: value for key, value in CANDIDATE.items() if key != name}]}


def test_it_returns_the_structured_reply_and_counts_tokens(llm):
    llm.observer(answers(GOOD))
    completion = ask(llm)
    assert completion.reply.candidates[0].statement == "The user lives in Lyon."
    assert (completion.usage.calls, completion.usage.input_tokens) == (1, 100)
    assert completion.usage.output_tokens == 20


def test_it_sends_model_key_limits_and_schema_in_the_common_protocol(llm):
    llm.observer(answers(GOOD))
    ask(llm)
    [request] = llm.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer k-1"
    assert request.body["model"] == "scripted"
    assert request.body["max_tokens"] == 8000
    assert request.system == "Read the window."
    assert request.task == "ObserverReply"
    assert "general_knowledge" in request.text
    assert not request.body.get("stream")


def test_it_takes_arguments_that_are_an_object_instead_of_a_string(llm):
    llm.observer(answers_with_object(GOOD))
    assert len(ask(llm).reply.candidates) == 1


def test_it_ignores_thinking_beside_the_reply(llm):
    llm.observer(answers(GOOD, think="<think>They live in Lyon. Save that.</think>"))
    assert len(ask(llm).reply.candidates) == 1


@pytest.mark.parametrize("output", [SCHEMA, PROMPT])
def test_it_takes_a_reply_in_the_text_where_the_server_has_no_tools(llm, output):
    task = "ObserverReply" if output == SCHEMA else ""
    llm.script(task, says("<think>Lyon, then.</think>\n" + json.dumps(GOOD)))
    assert len(ask(llm, output=output).reply.candidates) == 1
    assert not llm.requests[0].body.get("tools")


PIXELS = b"\xff\xd8\xff\xe0 of a JPEG"


def test_it_shows_a_picture_beside_the_question(llm):
    llm.observer(answers(GOOD))
    completion = ask(llm, picture=PIXELS)
    [request] = llm.requests
    assert request.pictures == [PIXELS]
    assert request.user.startswith("I live in Lyon.")
    assert completion.usage.calls == 1


def test_it_shows_anthropic_a_picture(llm):
    llm.observer(answers(GOOD))
    anthropic = {"provider": "anthropic", "base_url": llm.url.removesuffix("/v1")}
    ask(llm, picture=PIXELS, **anthropic)
    assert llm.requests[0].pictures == [PIXELS]


def test_it_speaks_to_anthropic(llm):
    llm.observer(answers(GOOD))
    completion = ask(llm, provider="anthropic", base_url=llm.url.removesuffix("/v1"))
    [request] = llm.requests
    assert request.path == "/v1/messages"
    assert request.headers["authorization"] == "Bearer k-1"
    assert request.body["max_tokens"] == 8000
    assert len(completion.reply.candidates) == 1
    assert completion.usage.input_tokens == 100


BAD_REPLIES = {
    "malformed JSON": answers('{"candidates": [{"statement": "The us'),
    "thinking inside the arguments": answers("<think>hm</think>" + json.dumps(GOOD)),
    "an unknown field": answers(broken(importance=9)),
    "an unknown field beside the list": answers({**GOOD, "notes": "x"}),
    "a bad enum": answers(broken(kind="opinion")),
    "a bad tag": answers(broken(tags=["secret"])),
    "a missing flag": answers(without("about_owner")),
    "no sources": answers(broken(sources=[])),
    "a confidence that is no number": answers(broken(confidence="NaN")),
    "a confidence out of range": answers(broken(confidence=999)),
    "too long a statement": answers(broken(statement="x" * 501)),
    "too many candidates": answers({"candidates": [CANDIDATE] * 21}),
    "text instead of a call": says("The user lives in Lyon."),
}


@pytest.mark.parametrize("bad", BAD_REPLIES.values(), ids=BAD_REPLIES.keys())
def test_it_says_once_what_was_wrong_and_takes_the_better_reply(llm, bad):
    llm.observer(bad, answers(GOOD))
    completion = ask(llm)
    assert len(completion.reply.candidates) == 1
    assert (completion.usage.calls, completion.usage.input_tokens) == (2, 200)
    assert len(llm.requests[1].body["messages"]) > len(llm.requests[0].body["messages"])


@pytest.mark.parametrize("bad", BAD_REPLIES.values(), ids=BAD_REPLIES.keys())
def test_it_gives_up_after_one_retry_and_still_counts_the_tokens(llm, bad):
    llm.observer(bad, bad, answers(GOOD))
    with pytest.raises(LlmBadReply) as failure:
        ask(llm)
    assert len(llm.requests) == 2
    assert failure.value.usage.input_tokens == 200


def test_its_retry_names_the_field_that_was_wrong(llm):
    llm.observer(answers(broken(kind="opinion")), answers(GOOD))
    ask(llm)
    assert "opinion" in llm.requests[1].text
    assert "procedural" in json.dumps(llm.requests[1].body["messages"][-1])


def test_its_error_names_the_rule_but_repeats_nothing_of_the_reply(llm):
    bad = answers(broken(kind=SECRET, **{f"{SECRET} is the password": 1}))
    llm.observer(bad, bad)
    with pytest.raises(LlmBadReply) as failure:
        ask(llm)
    assert "candidates.0.kind: enum" in str(failure.value)
    assert SECRET not in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__


def test_it_reports_a_refusal(llm):
    llm.observer(refuses())
    with pytest.raises(LlmRefused, match="refused"):
        ask(llm)
    assert len(llm.requests) == 1


def test_it_reports_a_reply_cut_off_by_the_token_limit(llm):
    llm.observer(is_cut_short(GOOD), is_cut_short(GOOD))
    with pytest.raises(LlmBadReply, match="cut off"):
        ask(llm)


def test_it_passes_on_how_long_to_wait(llm):
    llm.observer(fails(429, Retry_After="77"))
    with pytest.raises(LlmRateLimited) as failure:
        ask(llm)
    assert failure.value.retry_after == 77
    assert failure.value.usage.calls == 1
    assert len(llm.requests) == 1


def test_it_takes_a_rate_limit_that_names_no_time(llm):
    llm.observer(fails(429))
    with pytest.raises(LlmRateLimited) as failure:
        ask(llm)
    assert failure.value.retry_after is None


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_it_calls_a_server_error_unavailable_and_does_not_hammer(llm, status):
    llm.observer(fails(status), answers(GOOD))
    with pytest.raises(LlmUnavailable):
        ask(llm)
    assert len(llm.requests) == 1


@pytest.mark.parametrize(("status", "what"), [(401, "key"), (404, "model"), (400, "HTTP 400")])
def test_it_calls_a_rejected_request_refused(llm, status, what):
    llm.observer(fails(status))
    with pytest.raises(LlmRefused, match=what):
        ask(llm)


@pytest.mark.parametrize("share", [0, 0.5])
def test_it_calls_a_cut_connection_unavailable(llm, share):
    llm.observer(hangs_up(GOOD, after=share))
    with pytest.raises(LlmUnavailable, match="broke off"):
        ask(llm)


def test_it_calls_a_closed_port_unavailable(llm):
    with pytest.raises(LlmUnavailable, match="connection"):
        ask(llm, base_url="http://127.0.0.1:9/v1")


@override_settings(LLM_TIMEOUT_SECONDS=0.3)
def test_it_stops_waiting_after_the_time_limit(llm):
    llm.observer(waits(30, answers(GOOD)))
    with pytest.raises(LlmUnavailable, match="within") as failure:
        ask(llm)
    assert failure.value.usage.calls == 1


@override_settings(LLM_MAX_INPUT_TOKENS=50)
def test_it_refuses_a_call_that_took_too_many_tokens(llm):
    llm.observer(answers(GOOD))
    with pytest.raises(LlmBadReply, match="tokens") as failure:
        ask(llm)
    assert failure.value.usage.input_tokens == 100


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"{}", b'{"choices": []}', b""])
def test_it_calls_an_answer_in_another_protocol_a_bad_reply(llm, body):
    llm.observer(Reply(raw=body))
    with pytest.raises(LlmError):
        ask(llm)


def test_it_does_not_follow_a_redirect_to_another_host(llm):
    with scripted_llm() as elsewhere:
        llm.observer(fails(307, Location=f"{elsewhere.url}/chat/completions"))
        with pytest.raises(LlmError):
            ask(llm)
        assert elsewhere.requests == []


def test_its_time_begins_once_the_libraries_are_loaded(llm, monkeypatch):
    order = []
    load, begin = port._client, asyncio.timeout

    def loading(route):
        order.append("loaded")
        return load(route)

    def beginning(seconds):
        order.append("begun")
        return begin(seconds)

    monkeypatch.setattr(port, "_client", loading)
    monkeypatch.setattr(asyncio, "timeout", beginning)
    llm.observer(answers(GOOD))
    ask(llm)
    assert order[:2] == ["loaded", "begun"]


def test_it_logs_neither_question_nor_reply(llm, caplog):
    caplog.set_level(logging.INFO)
    llm.observer(answers(broken(statement=SECRET, kind="opinion")), answers(GOOD))
    ask(llm)
    assert len(llm.requests) == 2
    assert SECRET not in caplog.text
    assert "Lyon" not in caplog.text


def test_it_shows_no_key_when_a_route_is_printed():
    assert "k-1" not in repr(Route(name="general", model="m", api_key="k-1"))


def test_it_has_no_route_where_no_model_is_named(settings):
    settings.LLM_ROUTES = {
        "general": {"model": "m", "base_url": "http://127.0.0.1/v1"},
        "private": {"model": "", "base_url": ""},
    }
    assert configured("private") is None
    assert configured("vision") is None
    general = configured("general")
    assert general is not None
    assert general.model == "m"


def test_starting_up_loads_none_of_the_heavy_libraries(tmp_path):
    heavy = ("pydantic_ai", "openai", "anthropic", "torch", "sentence_transformers")
    code = (
        "import django, sys; django.setup(); import memory.tasks;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": "postgresql://nobody@/none",
        "REMEMBRANCER_HOME": str(tmp_path),
        "SECRET_KEY": "s" * 48,
        "HASH_KEY": "h" * 48,
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
