"""An export that comes over the wire: held in a folder of its own while it is read."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from conversations.importers.base import Report, Unrecognised, formats
from conversations.importers.files import Unreadable, printable
from conversations.importers.run import Plan, Tally, WhoIsOwner, bring_in, sources_at

LARGEST = 200_000_000  # bytes
# File systems take 255 bytes, and a character may have four.
LONGEST_NAME = 60
NAMED_AT_MOST = 50


class NotTaken(Exception):
    """Why nothing of it came in, for the person who sent it."""


class WhoAreYou(NotTaken):
    """Nothing came in before it is said who of those who speak is the owner."""


def bring_in_upload(*, name: str, chunks: Iterable[bytes], plan: Plan) -> tuple[Tally, Report]:
    """Raises NotTaken, and MemoryOff, before which a part may have come in."""
    tally, report = Tally(), Report()
    with TemporaryDirectory(prefix="remembrancer-import-") as folder:
        path = Path(folder, _file_name(name))
        try:
            _keep(path, chunks)
            with sources_at(path, "auto", plan, report) as (sources, _):
                for _ in bring_in(sources, path.name, plan, tally, report):
                    pass
        except Unreadable as error:
            raise NotTaken(str(error).replace(f"{folder}/", "")) from error
        except Unrecognised as error:
            known = ", ".join(f"{format.name} ({format.what})" for format in formats().values())
            raise NotTaken(
                f"It is in no format that I know, of which there are: {known}."
            ) from error
        except WhoIsOwner as error:
            raise WhoAreYou(_asking(error)) from error
    return tally, report


def _file_name(name: str) -> str:
    """Its own, as far as it can be one: some formats have no other title for a conversation."""
    last = Path(printable(name).replace("\\", "/")).name
    return f"{Path(last).stem[:LONGEST_NAME]}{Path(last).suffix[:10]}" if last else "export"


def _keep(path: Path, chunks: Iterable[bytes]) -> None:
    try:
        with path.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
    except OSError as error:
        raise NotTaken(f"The server can't keep it while it is read: {error.strerror}.") from error


def _asking(who: WhoIsOwner) -> str:
    people = ", ".join(who.names[:NAMED_AT_MOST]) or "nobody by name"
    if who.me is None:
        return (
            f"Several people speak in it. Say which of them you are: {people}."
            " And choose the file again."
        )
    return f"Nobody in it is called “{who.me}”. There is: {people}."
