"""Kombu's broker in a folder, made safe for a reader and a writer at the same moment."""

import logging
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

log = logging.getLogger(__name__)

TRANSPORT_ALIASES["folder"] = "config.broker:Transport"


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        """Under another name until it is whole: Kombu's reader takes what it sees, empty or not,
        and then the worker ends with an error."""
        name = f"{round(monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        unfinished = folder / f"{name}.part"
        unfinished.write_text(dumps(payload))
        unfinished.replace(folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """A crash may have left half a message. It is dropped: the next sweep looks again."""
        while True:
            try:
                return super()._get(queue)
            except ValueError:
                log.warning("a broken message was dropped from the broker's folder")


class Transport(filesystem.Transport):
    Channel = Channel
