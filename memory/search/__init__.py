"""Search over facts and the raw record. `memory.search.service.search` is the one call."""
