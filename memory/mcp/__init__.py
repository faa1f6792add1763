"""The memory as an MCP server, for assistants that speak the Model Context Protocol.

Only `serve` and what it imports load the SDK; the web process does so with the first request.
"""
