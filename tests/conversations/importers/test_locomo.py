"""LoCoMo through our own format: dates, speakers and pictures arrive."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.models import User
from bench import locomo_to_jsonl
from conversations.models import Conversation, Message
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
    ],
)
def test_it_reads_locomos_dates(text: str, expected: datetime) -> None:
    assert locomo_to_jsonl.moment(text) == expected


def test_a_sample_comes_in_with_its_speakers(
    sample_data: Path, tmp_path: Path, bring_in: Bring, alice: User
) -> None:
    samples = json.loads((sample_data / "locomo" / "locomo10.json").read_text())
    path, lines, turns = locomo_to_jsonl.write(samples[0], tmp_path)
    assert (path.name, lines, turns) == ("conv-26.jsonl", 19, 419)

    assert "Caroline, Melanie" in bring_in(path).err
    told = bring_in(path, "--me", "Caroline")
    assert (told.code, told.err) == (0, "")
    assert (Conversation.objects.count(), Message.objects.count()) == (19, 419)
    owners = set(Message.objects.filter(from_owner=True).values_list("speaker", flat=True))
    assert owners == {"Caroline"}

    first = Conversation.objects.get(external_id="conv-26.session-1")
    turn = first.messages.get(client_id="D1:5")
    assert turn.sent_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert turn.content.endswith(
        "[image: a photo of a dog walking past a wall with a painting of a woman]"
    )
    assert ": 0 messages." in bring_in(path, "--me", "Caroline").out
