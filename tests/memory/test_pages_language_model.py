"""What is connected, and a question to it whose real answer or error is shown."""

import pytest
from django.urls import reverse

from tests.llm_server import answers, fails
from tests.memory.pages import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(alices, alice):
    alice.is_superuser = True
    alice.save()
    return alices


@pytest.fixture
def eyes(settings, llm):
    route = {"model": "eyes", "base_url": llm.url, "api_key": "key"}
    settings.LLM_ROUTES = settings.LLM_ROUTES | {"vision": route}


def ask(client, route="general"):
    return client.post(reverse("language-model-ask"), {"route": route})


def test_it_shows_what_the_model_answered_and_what_it_cost(operator, llm):
    llm.script("Hello", answers({"answer": "I am <b>scripted</b>."}))
    page = ask(operator).content.decode()
    assert "I am &lt;b&gt;scripted&lt;/b&gt;." in page
    assert "100 tokens in, 20 out" in page


def test_it_shows_the_error(operator, llm):
    llm.script("Hello", fails(401))
    assert "rejected the API key" in ask(operator).content.decode()
    llm.script("Hello", fails(500))
    assert "server failed (HTTP 500)" in ask(operator).content.decode()


def test_it_shows_no_key_and_no_endpoint_to_others(operator, alice, llm):
    page = text(operator, "language-model")
    assert llm.url in page
    assert "scripted" in page
    alice.is_superuser = False
    alice.save()
    page = text(operator, "language-model")
    assert "scripted" in page
    assert llm.url not in page
    assert "Ask it" not in page
    assert ask(operator).status_code == 403
    assert llm.requests == []


def test_what_is_not_set_is_not_asked(operator, llm):
    for route in ("private", "vision", "", "nonsense"):
        assert ask(operator, route).status_code == 422
    page = text(operator, "language-model")
    assert "sensitive conversations wait" in page
    assert "no picture leaves it" in page
    assert llm.requests == []


def test_a_model_for_pictures_is_shown_one(operator, llm, eyes):
    page = text(operator, "language-model")
    assert "eyes" in page
    assert "no picture leaves it" not in page
    llm.script("Hello", answers({"answer": "The word is LANTERN."}))
    assert "The word is LANTERN." in ask(operator, "vision").content.decode()
    [request] = llm.requests
    assert len(request.pictures) == 1
    assert request.body["model"] == "eyes"
