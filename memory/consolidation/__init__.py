"""The daily upkeep of a store: stages that plan changes and carry them out through the lifecycle."""
