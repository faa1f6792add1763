"""Another embedding model, while everything runs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents.models import Agent
from conversations import passages
from conversations.models import PassageEmbedding
from memory import embedding, heartbeat, reembed, vector_index
from memory.models import Fact, FactEmbedding, Heartbeat
from memory.recall import service
from memory.vocabulary import State
from tests.factories import ConversationFactory, FactFactory, MessageFactory

BOTH = {"transaction": True, "databases": ["default", "owner"]}
FORMER, NARROW = "former", "narrow-minilm"


@pytest.fixture
def indexes() -> Iterator[None]:
    """None but the packaged model's are left for the tests that come after."""
    yield
    for model in (FORMER, NARROW):
        vector_index.drop_vector_index(model)


def run(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("reembed", *arguments, stdout=out, stderr=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def with_former_vectors(agent: Agent, facts: int = 3) -> list[Fact]:
    """A store as another model left it: vectors of two dimensions."""
    rows = [
        FactFactory.create(owner=agent.owner, statement=f"The user has {n} kilns.", state=state)
        for n, state in zip(
            range(facts), (State.ACTIVE, State.PENDING, State.REJECTED), strict=True
        )
    ]
    for fact in rows:
        FactEmbedding.objects.create(owner=fact.owner, fact=fact, model=FORMER, vector=[1, 0])
    talk = ConversationFactory.create(agent=agent)
    passages.store([MessageFactory.create(conversation=talk, content="I fired the kiln")])
    [passage] = talk.passages.all()
    PassageEmbedding.objects.create(owner=agent.owner, passage=passage, model=FORMER, vector=[1, 0])
    return rows


def models() -> list[tuple[str, int]]:
    rows: list[Any] = [*FactEmbedding.objects.all(), *PassageEmbedding.objects.all()]
    return sorted((row.model, len(row.vector)) for row in rows)


def index_names() -> set[str]:
    from tests.memory.raw import value

    found = value("SELECT array_agg(indexname::text) FROM pg_indexes WHERE indexname ~ '_near_'")
    return set(found or ())


@pytest.mark.usefixtures("indexes")
@pytest.mark.django_db(**BOTH)
def test_it_makes_what_is_missing_and_drops_the_old_at_the_end(agent: Agent) -> None:
    with_former_vectors(agent)
    code, said = run("--dry-run")
    assert (code, models()) == (0, [(FORMER, 2)] * 4)
    assert f"Without a vector of {embedding.MODEL}: 3 facts, 1 passages." in said
    assert "Of the model former: 4 vectors." in said
    assert run("--keep-old")[0] == 0
    assert models() == sorted([(FORMER, 2)] * 4 + [(embedding.MODEL, 384)] * 4)
    vector_index.ensure_vector_index(FORMER, 2)
    assert vector_index.index_name("memory_factembedding", FORMER) in index_names()
    code, said = run()
    assert (code, models()) == (0, [(embedding.MODEL, 384)] * 4), said
    assert "Made 0 vectors." in said
    assert "Dropped 4 old vectors." in said
    assert vector_index.index_name("memory_factembedding", FORMER) not in index_names()
    assert vector_index.index_name("memory_factembedding", embedding.MODEL) in index_names()


@pytest.mark.usefixtures("indexes")
@pytest.mark.django_db(**BOTH)
def test_the_old_stay_while_a_worker_uses_them(agent: Agent) -> None:
    with_former_vectors(agent)
    now = timezone.now()
    Heartbeat.objects.create(host="there", at=now, embedding_model=FORMER)
    code, said = run()
    assert code == 3
    assert "The old vectors stay: the worker still runs with former." in said
    assert (FORMER, 2) in models()
    Heartbeat.objects.update(at=now - timedelta(minutes=4))
    assert run()[0] == 0
    assert (FORMER, 2) not in models()


@pytest.mark.django_db
def test_a_fact_that_has_no_vector_yet_is_recalled_by_its_words(agent: Agent) -> None:
    """A vector of another dimension in the same column hurts nobody."""
    embedding.warm_up()
    [active, *_] = with_former_vectors(agent)
    told = service.recall(agent=agent, message="How many kilns do I have?", recent=[])
    assert active.statement in told.block
    assert embedding.MODEL not in {model for model, _ in models()}


@pytest.mark.django_db
def test_it_stops_between_two_batches_and_goes_on(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_former_vectors(agent)
    monkeypatch.setattr(embedding, "_STORE_AT_ONCE", 1)
    monkeypatch.setattr(reembed, "SHARE", 0.001)
    stop = Event()
    steps = reembed.make_missing(stop)
    assert next(steps) == ("facts", 1)
    stop.set()
    assert list(steps) == []
    assert reembed.missing() == {"facts": 2, "passages": 1, "cases": 0, "documents": 0}
    assert sum(made for _, made in reembed.make_missing(Event())) == 3


@pytest.mark.django_db
def test_rows_that_stay_without_a_vector_are_told(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another session holds them for ever, as far as this one can see."""
    with_former_vectors(agent)
    monkeypatch.setattr(reembed, "PATIENCE", 0.0)
    kind = reembed.Kind("facts", FactEmbedding, embedding.missing_embeddings, lambda seconds: 0)
    monkeypatch.setattr(reembed, "KINDS", (kind,))
    with pytest.raises(reembed.Stuck, match="Some facts get no vector"):
        list(reembed.make_missing(Event()))


@pytest.mark.django_db
def test_each_sweep_is_a_heartbeat() -> None:
    from memory.tasks import sweep

    assert heartbeat.last() is None
    sweep()
    last = heartbeat.last()
    assert last is not None
    assert last.embedding_model == embedding.MODEL
    assert list(heartbeat.alive(timezone.now())) == [last]
    assert not heartbeat.alive(timezone.now() + heartbeat.SILENT)


def a_second_model(folder: Path) -> Path:
    """Real weights of another dimension: MiniLM, of whose vectors a layer keeps the first 64."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    encoder = SentenceTransformer(str(embedding.packaged_weights()), device="cpu")
    narrow = Dense(384, 64, bias=False, activation_function=torch.nn.Identity())
    narrow.linear.weight = torch.nn.Parameter(torch.eye(64, 384))
    path = folder / NARROW
    SentenceTransformer(modules=[*list(encoder), narrow], device="cpu").save(str(path))
    return path


@pytest.mark.usefixtures("indexes")
@pytest.mark.django_db(**BOTH)
def test_a_second_real_model_of_another_dimension_takes_over(
    agent: Agent, tmp_path: Path, database_urls: dict[str, str]
) -> None:
    facts = with_former_vectors(agent)
    assert run("--keep-old")[0] == 0
    FactEmbedding.objects.filter(model=FORMER).delete()
    PassageEmbedding.objects.filter(model=FORMER).delete()
    environment = os.environ | database_urls | {
        "EMBEDDING_MODEL": str(a_second_model(tmp_path)),
        "SECRET_KEY": "s" * 40, "HASH_KEY": "h" * 40, "REMEMBRANCER_HOME": str(tmp_path / "home"),
    }  # fmt: skip
    command = [sys.executable, "manage.py", "reembed"]
    Heartbeat.objects.create(host="x", at=timezone.now(), embedding_model=embedding.MODEL)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert models() == sorted([(embedding.MODEL, 384)] * 4 + [(NARROW, 64)] * 4)
    # This process still runs with the first model, and finds by it.
    told: Any = service.recall(agent=agent, message="How many kilns do I have?", recent=[])
    assert facts[0].statement in told.block
    Heartbeat.objects.all().delete()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert models() == [(NARROW, 64)] * 4
