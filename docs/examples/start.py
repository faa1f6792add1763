"""The whole of it in ten lines: say something, and ask what is known for the next turn."""

import os
from datetime import UTC, datetime

import httpx2

api = httpx2.Client(
    base_url=os.environ.get("REMEMBRANCER_URL", "http://127.0.0.1:8000") + "/api/v1",
    headers={"Authorization": f"Bearer {os.environ['REMEMBRANCER_KEY']}"},
    timeout=60,
)
said = {"id": "m1", "role": "user", "content": "I moved to Turku last week."}
batch = {"messages": [said | {"sent_at": datetime.now(UTC).isoformat()}]}
print(api.post("/conversations/start/messages", json=batch).raise_for_status().json())
asked = {"message": "Where do I live?"}
print(api.post("/recall", json=asked).raise_for_status().json()["block"])
