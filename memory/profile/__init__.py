"""The narrative profile of an owner, per agent: for pages and the API, never in recall's block."""
