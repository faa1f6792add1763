"""LoCoMo's conversations in our import format: one file per sample, one line per session.

    python -m bench.locomo_to_jsonl OUT [--data locomo10.json]

Both speakers are people, so import a file with `--me` and the name of one of them.
"""

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import samples

DATA = samples.FOLDER / "locomo" / "locomo10.json"


def moment(text: str) -> datetime:
    """LoCoMo writes "1:56 pm on 8 May, 2023" and names no zone; we take UTC."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def sessions(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Only those with turns: one sample has dates of sessions that it does not hold."""
    talk = sample["conversation"]
    number = 1
    while f"session_{number}_date_time" in talk:
        turns = talk.get(f"session_{number}")
        if turns:
            said_at = moment(talk[f"session_{number}_date_time"])
            yield {
                "id": f"{sample['sample_id']}.session-{number}",
                "source": "locomo",
                "title": f"{sample['sample_id']}, session {number}",
                "messages": [message(turn, said_at) for turn in turns],
            }
        number += 1


def message(turn: dict[str, Any], said_at: datetime) -> dict[str, Any]:
    """A turn has no time of its own, so it takes its session's."""
    caption = f"[image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return {
        "id": turn["dia_id"],
        "role": "user",
        "speaker": turn["speaker"],
        "content": " ".join(part for part in (turn["text"].strip(), caption) if part),
        "sent_at": said_at.isoformat(),
        "zone": "UTC",
    }


def write(sample: dict[str, Any], folder: Path) -> tuple[Path, int, int]:
    path = folder / f"{sample['sample_id']}.jsonl"
    lines = list(sessions(sample))
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return path, len(lines), sum(len(line["messages"]) for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder for the files")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for sample in json.loads(samples.text_of(options.data)):
        path, lines, turns = write(sample, options.out)
        names = f"{sample['conversation']['speaker_a']}, {sample['conversation']['speaker_b']}"
        print(f"{path}  {lines:3} sessions  {turns:4} turns  --me one of: {names}")


if __name__ == "__main__":
    main()
