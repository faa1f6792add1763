import pytest

from agents.models import Agent
from conversations import passages
from conversations.models import Message, Passage
from tests.conversations.conftest import Send, message
from tests.factories import ConversationFactory, MessageFactory


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_nothing_gives_no_piece(text: str) -> None:
    assert passages.pieces(text) == []


def test_a_short_text_is_one_piece() -> None:
    assert passages.pieces(" Hello. ") == ["Hello."]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 2000,
        "x" * 11_999,
        "語" * 9_000,
        "One paragraph.\n\n" * 600,
        "A sentence. " * 900,
        "👩‍👩‍👧" * 1500,
    ],
)
def test_pieces_are_short_and_lose_nothing(text: str) -> None:
    found = passages.pieces(text)
    assert len(found) > 1
    assert all(len(piece) <= passages.PIECE for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_pieces_end_between_sentences_if_they_can() -> None:
    found = passages.pieces("This is a sentence of some length. " * 200)
    assert all(piece.endswith(".") for piece in found)


def test_the_middle_of_a_long_text_is_left_out_and_marked() -> None:
    text = "start " + "x" * 50_000 + " end"
    short = passages.shortened(text)
    assert len(short) <= passages.CAP
    assert short.startswith("start ")
    assert short.endswith(" end")
    left_out = int(short.split("[… ")[1].split(" ")[0])
    mark = passages.GAP.format(left_out)
    assert len(short) - len(mark) + left_out == len(text)
    assert "characters left out" in "".join(passages.pieces(text))


@pytest.mark.django_db
class TestStoring:
    def test_equal_texts_are_one_passage_of_the_first(self, send: Send) -> None:
        send(message(1, content="Yes."), message(2, content="Yes."))
        assert Passage.objects.get().message == Message.objects.get(client_id="m1")
        send(message(1, content="Yes."), to="c2")
        assert Passage.objects.count() == 2

    def test_storing_twice_adds_nothing(self, agent: Agent) -> None:
        row = MessageFactory.create(
            conversation=ConversationFactory.create(agent=agent),
            content=" ".join(f"word{number}" for number in range(1200)),
        )
        passages.store([row])
        count = Passage.objects.count()
        passages.store([row])
        assert Passage.objects.count() == count == 3
        assert [p.piece for p in Passage.objects.order_by("piece")] == [0, 1, 2]
        assert {p.said_at for p in Passage.objects.all()} == {row.sent_at}

    def test_what_is_off_the_branch_has_none(self, agent: Agent) -> None:
        row = MessageFactory.create(
            conversation=ConversationFactory.create(agent=agent), on_branch=False
        )
        passages.store([row])
        assert not Passage.objects.exists()

    def test_a_short_message_takes_the_language_of_its_batch(
        self, send: Send, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            passages, "language_of", lambda text: "finnish" if "pyörä" in text else "simple"
        )
        send(message(1, content="Ok."), message(2, content="Minulla on pyörä."))
        assert {p.language for p in Passage.objects.all()} == {"finnish"}
