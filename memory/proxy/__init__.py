"""A chat through us to the operator's own model server, with memory put in and what was said kept.

The client speaks OpenAI's protocol and notices nothing; docs/proxy.md has what it may say and what
it is told.
"""
