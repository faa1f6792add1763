"""Documents come in, are read by a job (`job.work`), read anew, and deleted. Pages, API, admin and
tools call the same functions."""

from knowledge.ingest.adding import (
    Added,
    Refused,
    add_address,
    add_file,
    add_text,
    in_words,
    most_bytes,
    too_large,
)
from knowledge.ingest.deleting import delete, delete_collection
from knowledge.ingest.steps import reingest, reingest_all, retry, retry_all

__all__ = [
    "Added",
    "Refused",
    "add_address",
    "add_file",
    "add_text",
    "delete",
    "delete_collection",
    "in_words",
    "most_bytes",
    "reingest",
    "reingest_all",
    "retry",
    "retry_all",
    "too_large",
]
