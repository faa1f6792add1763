"""The daily upkeep of a store: stages that plan changes and make them through the lifecycle."""
