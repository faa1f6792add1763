"""A client that knows only a new address and a key."""

import base64
import json
import threading
from typing import Any

import openai
import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from agents import keys
from agents.audit import person
from agents.models import Agent, OwnerSettings
from conversations.models import Conversation, Message
from memory.models import RecalledFact
from memory.proxy import recalling, views
from memory.proxy.relay import Slot
from memory.recall.service import Recall, recall
from tests.factories import ApiKeyFactory, IssuedKey
from tests.memory.proxying import (
    UPSTREAM_KEY,
    Traffic,
    ask,
    assistant,
    client,
    eventually,
    kept,
    key,
    raw,
    speaks_as,
    traffic,
    upstream,
    user,
)
from tests.memory.recalling import known, model
from tests.upstream_server import Reply as Scripted
from tests.upstream_server import Upstream, calls, event, fails, says, streams

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("model")]
__all__ = ["client", "key", "model", "traffic", "upstream"]

HOME = "The user's home is in the Kallio district of Helsinki."
ASKS = "where do I live"
PIXEL = "data:image/png;base64," + base64.b64encode(b"a picture").decode()
SYSTEM = {"role": "system", "content": "Be brief."}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def test_memory_rides_behind_the_users_words_and_the_exchange_is_kept(
    client: openai.OpenAI, upstream: Upstream, agent: Agent
) -> None:
    (fact,) = known(agent, HOME)
    upstream.script(says("In Kallio."))
    answer = ask(client, SYSTEM, user(ASKS), temperature=0.5)
    assert answer.parse().choices[0].message.content == "In Kallio."
    assert answer.headers["x-remembrancer-memory"] == "told"
    assert answer.headers["x-remembrancer-facts"] == str(fact.pk)
    assert float(answer.headers["x-remembrancer-added-ms"]) > 0
    system, asked = upstream.last.body["messages"]
    assert system == SYSTEM
    assert asked["content"].startswith(f"{ASKS}\n\n<memory trust=")
    assert HOME in asked["content"]
    assert upstream.last.body["temperature"] == 0.5
    eventually(kept, [("user", ASKS), ("assistant", "In Kallio.")])
    # Written after the exchange.
    eventually(RecalledFact.objects.count, 1)
    told = RecalledFact.objects.get()
    assert told.fact == fact
    assert told.conversation == Conversation.objects.get()


def test_without_anything_to_tell_the_request_goes_on_byte_for_byte(
    client: openai.OpenAI, upstream: Upstream, key: IssuedKey
) -> None:
    upstream.script(says("Hello!"))
    body = b'{ "model":"scripted", "messages":[{"role":"user","content":"hi"}], "x":1.10 }'
    answer = raw(str(client.base_url).rstrip("/"), key.plaintext, body)
    assert answer.headers["x-remembrancer-memory"] == "nothing"
    assert "x-remembrancer-facts" not in answer.headers
    assert upstream.last.raw == body


def test_a_stream_arrives_piece_by_piece(
    client: openai.OpenAI, upstream: Upstream, agent: Agent
) -> None:
    known(agent, HOME)
    reply = streams("In ", "Kal", "lio.", held=2)
    upstream.script(reply)
    stream = ask(client, user(ASKS), stream=True).parse()
    first = [next(iter(stream)).choices[0].delta.content for _ in range(2)]
    assert first == ["", "In "]  # while the rest is yet to be said
    reply.release.set()
    rest = [chunk.choices[0].delta.content for chunk in stream]
    assert [text for text in rest if text] == ["Kal", "lio."]
    eventually(kept, [("user", ASKS), ("assistant", "In Kallio.")])


@pytest.mark.parametrize("reply", [says("Héllo \U0001f600"), streams("Hé", "llo"), fails(400)])
def test_what_comes_back_is_what_the_model_server_says_byte_for_byte(
    client: openai.OpenAI, upstream: Upstream, key: IssuedKey, reply: Scripted
) -> None:
    upstream.script(reply, reply)
    body = {"model": "scripted", "messages": [user("hi")]}
    direct = raw(upstream.url, UPSTREAM_KEY, body)
    through = raw(str(client.base_url).rstrip("/"), key.plaintext, body)
    assert through.content == direct.content == b"".join(reply.pieces)
    assert through.status_code == direct.status_code
    assert through.headers["content-type"] == direct.headers["content-type"]


def test_tools_pass_untouched_and_all_steps_of_a_turn_send_the_same_prompt(
    client: openai.OpenAI, upstream: Upstream, agent: Agent
) -> None:
    known(agent, HOME)
    upstream.script(calls("look", '{"at": 1}'), says("In Kallio."))
    first = ask(client, user(ASKS), tools=TOOLS, tool_choice="auto").parse().choices[0].message
    assert first.tool_calls[0].function.arguments == '{"at": 1}'
    result = {"role": "tool", "tool_call_id": "call_1", "content": "a map"}
    ask(client, user(ASKS), first.model_dump(exclude_none=True), result, tools=TOOLS).parse()
    one, two = (request.body for request in upstream.requests)
    assert two["tools"] == one["tools"] == TOOLS
    assert one["tool_choice"] == "auto"
    assert two["messages"][0] == one["messages"][0]
    assert [m["role"] for m in two["messages"]] == ["user", "assistant", "tool"]
    assert two["messages"][2] == result
    eventually(kept, [("user", ASKS), ("tool", "a map"), ("assistant", "In Kallio.")])


def test_pictures_pass_and_only_words_are_kept(
    client: openai.OpenAI, upstream: Upstream, agent: Agent
) -> None:
    known(agent, HOME)
    upstream.script(says("A house."), says("Grey."))
    picture = {"type": "image_url", "image_url": {"url": PIXEL}}
    ask(client, user([{"type": "text", "text": ASKS}, picture]))
    words, same, block = upstream.last.body["messages"][0]["content"]
    assert (words["text"], same) == (ASKS, picture)
    assert HOME in block["text"]
    eventually(kept, [("user", ASKS), ("assistant", "A house.")])
    alone = ask(client, user([picture]))
    assert alone.headers["x-remembrancer-memory"] == "skipped"
    assert upstream.last.body["messages"] == [user([picture])]
    assert not [text for _, text in kept() if "base64" in text]


def test_of_several_answers_the_one_that_the_client_goes_on_with_is_kept(
    client: openai.OpenAI, upstream: Upstream
) -> None:
    named = {"X-Remembrancer-Conversation": "trip"}
    upstream.script(says("Oslo.", "Rome."), says("By train."))
    both = ask(client, user("where to?"), n=2, headers=named).parse()
    assert [choice.message.content for choice in both.choices] == ["Oslo.", "Rome."]
    eventually(kept, [("user", "where to?")])
    ask(client, user("where to?"), assistant("Rome."), user("and how?"), headers=named)
    eventually(
        kept,
        [
            ("user", "where to?"),
            ("assistant", "Rome."),
            ("user", "and how?"),
            ("assistant", "By train."),
        ],
    )


def test_a_client_that_leaves_ends_the_call_and_comes_back_with_what_it_kept(
    client: openai.OpenAI, upstream: Upstream
) -> None:
    named = {"X-Remembrancer-Conversation": "trip"}
    upstream.script(says("Hi."), streams("In ", *["x" * 50_000] * 400, held=2), says("Rome, then."))
    ask(client, user("hello there"), headers=named)
    stream = ask(
        client,
        user("hello there"),
        assistant("Hi."),
        user("where to?"),
        headers=named,
        stream=True,
    ).parse()
    next(iter(stream))
    stream.close()
    upstream.given[-1].release.set()
    assert upstream.hung_up.wait(20)
    said = [user("hello there"), assistant("Hi."), user("where to?"), assistant("In "), user("So?")]
    eventually(kept, [("user", "hello there"), ("assistant", "Hi.")])
    ask(client, *said, headers=named)
    eventually(lambda: [text for _, text in kept()][2:], ["where to?", "In ", "So?", "Rome, then."])


@pytest.mark.parametrize("status", [429, 500])
def test_errors_of_the_model_server_pass_as_they_are_and_nothing_is_kept(
    client: openai.OpenAI, upstream: Upstream, status: int
) -> None:
    upstream.script(fails(status, Retry_After="7", Set_Cookie="theirs=1"))
    with pytest.raises(openai.APIStatusError) as error:
        ask(client, user("hello"))
    assert error.value.status_code == status
    assert error.value.body == json.loads(fails(status).pieces[0])["error"]
    assert error.value.response.headers["retry-after"] == "7"
    assert "set-cookie" not in error.value.response.headers
    assert kept() == []


def test_a_model_server_that_hangs_is_given_up(
    client: openai.OpenAI, upstream: Upstream, settings: Settings
) -> None:
    settings.UPSTREAM_TIMEOUT_SECONDS = 0.3
    upstream.script(says("too late", held=-1))
    with pytest.raises(openai.InternalServerError) as error:
        ask(client, user("hello"))
    assert (error.value.status_code, error.value.code) == (504, "upstream_timeout")
    assert kept() == []


def test_a_model_server_that_is_not_there_or_sends_us_elsewhere_is_told(
    client: openai.OpenAI, upstream: Upstream, settings: Settings
) -> None:
    upstream.script(Scripted([b""], status=307, headers={"Location": "http://127.0.0.1:9/"}))
    with pytest.raises(openai.InternalServerError) as error:
        ask(client, user("hello"))
    assert (error.value.status_code, error.value.code) == (502, "upstream_unreachable")
    assert len(upstream.requests) == 1
    settings.UPSTREAM = {"base_url": "http://127.0.0.1:9/v1", "api_key": ""}
    with pytest.raises(openai.InternalServerError) as error:
        ask(client, user("hello"))
    assert (error.value.status_code, error.value.code) == (502, "upstream_unreachable")


def test_a_chat_goes_on_without_memory_when_memory_is_broken(
    client: openai.OpenAI, upstream: Upstream, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(agent, HOME)
    upstream.script(says("I don't know."))

    def broken(**_: object) -> None:
        raise RuntimeError("the index is gone")

    monkeypatch.setattr(recalling, "recall", broken)
    answer = ask(client, user(ASKS))
    assert answer.headers["x-remembrancer-memory"] == "failed"
    assert "<memory" not in upstream.last.text
    eventually(kept, [("user", ASKS), ("assistant", "I don't know.")])


def test_a_chat_waits_for_recall_until_the_deadline_only(
    client: openai.OpenAI, upstream: Upstream, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(agent, HOME)
    upstream.script(says("I don't know."))
    come = threading.Event()

    def after_a_while(**asked: Any) -> Recall:
        come.wait(20)
        return recall(**asked)

    monkeypatch.setattr(recalling, "DEADLINE", 0.05)
    monkeypatch.setattr(recalling, "recall", after_a_while)
    answer = ask(client, user(ASKS))
    come.set()
    assert answer.headers["x-remembrancer-memory"] == "late"
    assert "<memory" not in upstream.last.text


def test_a_chat_goes_on_when_nothing_can_be_kept(
    client: openai.OpenAI, upstream: Upstream, second_agent: Agent
) -> None:
    Conversation.objects.create(
        owner=second_agent.owner, agent=second_agent, source="proxy", external_id="theirs"
    )
    upstream.script(says("Fine."))
    answer = ask(client, user("hello"), headers={"X-Remembrancer-Conversation": "theirs"})
    assert answer.parse().choices[0].message.content == "Fine."
    assert kept() == []


def test_while_memory_is_off_nothing_is_told_or_kept(
    client: openai.OpenAI, upstream: Upstream, agent: Agent, traffic: Traffic
) -> None:
    known(agent, HOME)
    OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=False)
    upstream.script(says("I don't know."))
    answer = ask(client, user(ASKS))
    assert answer.headers["x-remembrancer-memory"] == "off"
    assert "<memory" not in upstream.last.text
    traffic.over()
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    ("asked", "words", "status", "told"),
    [
        ("read-only", ASKS, "told", True),
        ("off", ASKS, "skipped", False),
        ("", f"### Task:\nWrite a title.\n{ASKS}", "skipped", False),
    ],
)
def test_what_a_client_wants_kept_out_is_not_kept(
    client: openai.OpenAI,
    upstream: Upstream,
    agent: Agent,
    traffic: Traffic,
    asked: str,
    words: str,
    status: str,
    told: bool,
) -> None:
    known(agent, HOME)
    upstream.script(says("In Kallio."))
    named = {"X-Remembrancer-Conversation": "trip"}
    answer = ask(client, user(words), headers={"X-Remembrancer-Memory": asked} | named)
    assert answer.headers["x-remembrancer-memory"] == status
    assert (HOME in upstream.last.text) is told
    traffic.over()
    assert not Conversation.objects.exists()
    assert not RecalledFact.objects.exists()


def test_the_model_server_sees_its_own_key_and_none_of_the_clients_secrets(
    client: openai.OpenAI, upstream: Upstream, key: IssuedKey
) -> None:
    upstream.script(says("Hello."))
    ask(client, user("hello"), headers={"Cookie": "session=1", "OpenAI-Organization": "org-1"})
    sent = upstream.last.headers
    assert sent["authorization"] == f"Bearer {UPSTREAM_KEY}"
    assert key.plaintext not in str(sent)
    assert not {"cookie", "openai-organization", "x-forwarded-for"} & set(sent)


def test_models_are_listed_and_nothing_else_can_be_reached(
    client: openai.OpenAI, upstream: Upstream
) -> None:
    assert [one.id for one in client.models.list()] == ["scripted"]
    assert upstream.last.headers["authorization"] == f"Bearer {UPSTREAM_KEY}"
    before = len(upstream.requests)
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="scripted", input="x")
    with pytest.raises(openai.NotFoundError):
        client.get("/chat/completions/../files", cast_to=object)
    assert len(upstream.requests) == before


def test_only_a_live_key_with_the_scope_gets_through(
    live_server: LiveServer, upstream: Upstream, key: IssuedKey, agent: Agent
) -> None:
    other = ApiKeyFactory.create(agent=agent, scopes=["ingest", "recall", "search", "admin"])
    with pytest.raises(openai.PermissionDeniedError) as refused:
        ask(speaks_as(other, live_server), user("hello"))
    assert refused.value.code == "scope_missing"
    keys.revoke(key=key, actor=person(agent.owner))
    with pytest.raises(openai.AuthenticationError) as unknown:
        ask(speaks_as(key, live_server), user("hello"))
    assert unknown.value.code == "invalid_api_key"
    assert upstream.requests == []


def test_a_key_for_any_agent_speaks_for_the_default_one_or_the_one_it_names(
    live_server: LiveServer,
    upstream: Upstream,
    traffic: Traffic,
    agent: Agent,
    second_agent: Agent,
) -> None:
    free = speaks_as(ApiKeyFactory.create(owner=agent.owner, scopes=["proxy"]), live_server)
    for slug, expected in ((None, agent), ("work", second_agent)):
        upstream.script(says(f"For {slug}."))
        ask(free, user(f"hello {slug}"), headers={"X-Remembrancer-Agent": slug} if slug else {})
        traffic.over()
        assert Message.objects.get(content=f"For {slug}.").conversation.agent == expected
    with pytest.raises(openai.NotFoundError):
        ask(free, user("hello"), headers={"X-Remembrancer-Agent": "nobody"})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"x": NaN}', 400),
        (b"[" * 100_000, 400),
        (b'"' + b"x" * 2_000 + b'"', 413),
    ],
)
def test_a_body_that_is_no_request_is_refused_here(
    client: openai.OpenAI,
    upstream: Upstream,
    key: IssuedKey,
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    status: int,
) -> None:
    monkeypatch.setattr(views, "BODY_BYTES", 1_000 if status == 413 else 1_000_000)
    answer = raw(str(client.base_url).rstrip("/"), key.plaintext, body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert upstream.requests == []


@pytest.mark.parametrize("messages", [None, "x", [1], [{}], [user(7)], [user([None])]])
def test_odd_messages_are_the_model_servers_to_judge(
    client: openai.OpenAI, upstream: Upstream, key: IssuedKey, messages: object
) -> None:
    upstream.script(fails(400))
    body = {"model": "scripted", "messages": messages}
    answer = raw(str(client.base_url).rstrip("/"), key.plaintext, body)
    assert answer.content == fails(400).pieces[0]
    assert upstream.last.body == body


def test_more_chats_at_once_than_threads_are_told_to_come_again(
    client: openai.OpenAI, upstream: Upstream, settings: Settings
) -> None:
    settings.UPSTREAM_STREAMS = 1
    slot = Slot()
    with pytest.raises(openai.InternalServerError) as error:
        ask(client, user("hello"))
    assert error.value.code == "busy"
    assert error.value.response.headers["retry-after"] == "1"
    slot.free()
    upstream.script(says("Hello."), says("Hello."))
    ask(client, user("hello"))
    eventually(lambda: _works(client), True)


def _works(client: openai.OpenAI) -> bool:
    """The slot came back."""
    try:
        return bool(ask(client, user("hello")).headers)
    except openai.InternalServerError:
        return False


def test_it_is_off_unless_a_model_server_is_configured(
    client: openai.OpenAI, settings: Settings
) -> None:
    settings.UPSTREAM = {"base_url": "", "api_key": ""}
    with pytest.raises(openai.NotFoundError) as error:
        ask(client, user("hello"))
    assert error.value.code == "not_configured"
    with pytest.raises(openai.NotFoundError):
        client.models.list()


def test_several_choices_in_one_stream_pass(client: openai.OpenAI, upstream: Upstream) -> None:
    pieces = [event({"content": "a"}), event({"content": "b"}, index=1), b": ping\n\n"]
    pieces += [event({}, "stop"), event({}, "stop", 1), b"data: [DONE]\n\n"]
    upstream.script(Scripted(pieces, content_type="text/event-stream"))
    stream = ask(
        client, user("one"), n=2, stream=True, headers={"X-Remembrancer-Conversation": "c"}
    ).parse()
    said = [(c.choices[0].index, c.choices[0].delta.content) for c in stream]
    assert said == [(0, "a"), (1, "b"), (0, None), (1, None)]
    eventually(kept, [("user", "one")])
