"""The SDK's own client, over HTTP and over stdio, for the tests of the MCP server."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from asgiref.sync import async_to_sync, sync_to_async
from django.test import Client as Browser
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

ROOT = Path(__file__).parent.parent.parent

Talk = Callable[[Client], Awaitable[Any]]


@dataclass
class Session:
    """Each call is a connection of its own, since tests write in between."""

    connect: Callable[[AsyncExitStack], Awaitable[Client]]

    def run(self, talk: Talk) -> Any:
        async def whole() -> tuple[Any, MCPError | None]:
            async with asyncio.timeout(120), AsyncExitStack() as stack:
                client = await self.connect(stack)
                # Out of the task groups that would wrap it.
                try:
                    return await talk(client), None
                except MCPError as refusal:
                    return None, refusal

        answer, refusal = async_to_sync(whole)()
        if refusal is not None:
            raise refusal
        return answer

    def tools(self) -> dict[str, types.Tool]:
        return {tool.name: tool for tool in self.run(lambda client: client.list_tools()).tools}

    def resources(self) -> list[str]:
        listed = self.run(lambda client: client.list_resources()).resources
        return [resource.uri for resource in listed]

    def call(self, tool: str, /, **arguments: Any) -> types.CallToolResult:
        result = self.run(lambda client: client.call_tool(tool, arguments))
        assert isinstance(result, types.CallToolResult)
        return result

    def told(self, tool: str, /, **arguments: Any) -> str:
        """The text of an answer that is no error."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def refused(self, tool: str, /, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)

    def read(self, uri: str) -> str:
        result = self.run(lambda client: client.read_resource(uri))
        return "".join(part.text for part in result.contents)


def text_of(result: types.CallToolResult) -> str:
    assert result.structured_content is None
    parts = [part for part in result.content if isinstance(part, types.TextContent)]
    assert len(parts) == len(result.content) == 1
    return parts[0].text


class ToView(httpx2.AsyncBaseTransport):
    """The whole way but for the socket, in the test's own transaction."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        answer = await sync_to_async(self._send)(request, body)
        return httpx2.Response(
            answer.status_code, headers=dict(answer.headers), content=answer.content
        )

    def _send(self, request: httpx2.Request, body: bytes) -> Any:
        headers = {**request.headers, "host": "localhost"}
        kind = headers.pop("content-type", "")
        return Browser().generic(
            request.method, request.url.path, body, content_type=kind, headers=headers
        )


def over_http(key: str, url: str = "", mode: str = "auto") -> Session:
    """To a live server, or without `url` straight to the view."""

    async def connect(stack: AsyncExitStack) -> Client:
        http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
            transport=None if url else ToView(),
        )
        await stack.enter_async_context(http)
        address = f"{url or 'http://localhost'}/mcp"
        transport = streamable_http_client(address, http_client=http)
        return await stack.enter_async_context(Client(transport, mode=mode))

    return Session(connect)


def over_stdio(environment: dict[str, str]) -> Session:
    async def connect(stack: AsyncExitStack) -> Client:
        server = StdioServerParameters(
            command=sys.executable,
            args=[str(ROOT / "manage.py"), "mcp"],
            env={**os.environ, **environment},
            cwd=ROOT,
        )
        return await stack.enter_async_context(Client(stdio_client(server)))

    return Session(connect)
