"""Tells other programs when something happens to the memory: ids, never text (docs/webhooks.md)."""
