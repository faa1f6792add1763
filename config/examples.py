"""A body for each operation that takes one. A test holds them against the schemas."""

from typing import Any

SAID_AT = "2026-03-02T09:00:00+01:00"
FACT = "0197a3c4-5f00-7000-8000-000000000001"

EXAMPLES: dict[str, dict[str, Any]] = {
    "store_messages": {
        "title": "The trip",
        "messages": [
            {"id": "1", "role": "user", "content": "I moved to Oslo.", "sent_at": SAID_AT}
        ],
    },
    "compact_conversation": {"up_to": "2", "summary": "The move to Oslo."},
    "extract_conversation": {"agent": "main"},
    "exclude_conversation": {"agent": "main"},
    "store_outcome": {
        "id": "mission-7",
        "header": "Mission: mirror the archive",
        "discoveries": ["The mirror needs 4 GB."],
        "sent_at": SAID_AT,
    },
    "write_sketch": {"text": "1. Compare the two hotels.\n2. Ask about the dates."},
    "recall": {"message": "What should I pack?", "conversation": "trip-1", "budget": 800},
    "search": {"query": "Oslo", "scope": "facts", "k": 5},
    "forget": {"match": "Oslo"},
    "purge": {"conversation": "trip-1", "confirm": False},
    "remember": {"statement": "The user lives in Oslo.", "tags": []},
    "propose": {"statement": "The user lives in Bergen.", "corrects": [FACT]},
    "search_facts": {"text": "Oslo", "kind": "semantic", "limit": 20},
    "add_fact": {"statement": "The user is allergic to nuts.", "pinned": True},
    "correct_fact": {"statement": "The user lives in Bergen."},
    "pin_fact": {"pinned": True},
    "set_fact_validity": {"valid_until": SAID_AT, "valid_precision": "day"},
    "decide_candidate": {"decision": "confirm"},
    "add_collection": {"name": "Manuals", "description": "Of the house.", "agent": "main"},
    "change_collection": {"description": "Of the house and the car."},
    "add_document": {"title": "Boiler", "text": "# Boiler\n\nPress reset for 5 seconds."},
    "reingest_document": {"agent": "main"},
    "retry_document": {"agent": "main"},
    "search_kb": {"query": "How do I reset the boiler?", "k": 5},
    "pin_collection": {"agent": "main"},
    "add_agent": {"name": "Work", "slug": "work"},
    "change_agent": {"name": "Work and travel"},
    "add_key": {"name": "Laptop", "scopes": ["recall", "ingest"], "agent": "main"},
    "rotate_key": {"overlap_hours": 24},
    "add_webhook": {
        "address": "https://hooks.example.org/memory",
        "events": ["candidate.waiting", "fact.purged"],
    },
    "change_webhook": {"enabled": False},
    "renew_webhook_secret": {"overlap_hours": 24},
    "change_settings": {"time_zone": "Europe/Oslo", "recall_budget": 1200},
}
