"""What the examples need of Remembrancer. Copy it: there is no more to a client than this."""

import os
import uuid
from datetime import UTC, datetime
from typing import Any

import httpx2


class Memory:
    """One conversation. The key speaks for one assistant; for `remember` it needs that scope too:
    manage.py apikey create chat --agent default --scope ingest --scope recall"""

    def __init__(self, conversation: str = "") -> None:
        self.conversation = conversation or f"chat-{uuid.uuid4()}"
        url = os.environ.get("REMEMBRANCER_URL", "http://127.0.0.1:8000")
        key = os.environ["REMEMBRANCER_KEY"]
        self._http = httpx2.Client(
            base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60
        )

    def block(self, message: str) -> str:
        """For the end of the prompt, as it is. Empty where there is nothing to tell; a chat goes on
        without memory rather than not at all."""
        asked = {"message": message, "conversation": self.conversation}
        try:
            return str(self._post("/recall", asked)["block"])
        except httpx2.HTTPError as error:
            print(f"[no memory this time: {type(error).__name__}]")
            return ""

    def tell(self, *messages: tuple[str, str]) -> None:
        """(role, content) of each message that was said, in order."""
        batch = [
            {
                "id": str(uuid.uuid4()),
                "role": role,
                "content": content,
                "sent_at": datetime.now(UTC).isoformat(),
            }
            for role, content in messages
        ]
        self._post(f"/conversations/{self.conversation}/messages", {"messages": batch})

    def remember(self, statement: str, quote: str) -> str:
        """What became of it: active at once where the owner's own words in this conversation say
        it, else it waits for the owner."""
        cited = {"conversation": self.conversation, "quote": quote}
        asked = {"statement": statement, "cited": cited}
        return str(self._post("/remember", asked)["outcome"])

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        # The name makes a repeated POST harmless (docs/api.md).
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        answer = self._http.post(path, json=body, headers=headers)
        answer.raise_for_status()
        told: dict[str, Any] = answer.json()
        return told
