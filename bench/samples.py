"""Where the sample data are that benches read."""

import os
from pathlib import Path

_DEFAULT = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
FOLDER = Path(os.environ.get("REMEMBRANCER_DATA") or _DEFAULT)


def text_of(path: Path) -> str:
    """Ends the command, saying what to do, where the file isn't there."""
    try:
        return path.read_text()
    except FileNotFoundError:
        raise SystemExit(
            f"There is no {path}. Name the folder of the sample data in REMEMBRANCER_DATA, or the"
            " file with --data."
        ) from None
