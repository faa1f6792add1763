"""The SDK's server for one caller. Whatever touches the database runs in the calling thread."""

import logging
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeVar

import mcp_types as types
from asgiref.sync import sync_to_async
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from agents.limits import TooManyCalls
from memory.mcp import resources, tools, wording
from memory.mcp.caller import Caller, Identify, KeyGone, Refused

log = logging.getLogger(__name__)

Made = TypeVar("Made")
Context = ServerRequestContext[Any, Any]


def server(identify: Identify) -> Server[Any]:
    """`identify` is asked at each request. Raises KeyGone, which ends that request alone."""

    async def by(work: Callable[[Caller], Made]) -> Made:
        try:
            return await sync_to_async(lambda: work(identify()), thread_sensitive=True)()
        except (KeyGone, Refused, TooManyCalls) as refusal:
            raise MCPError(types.INVALID_PARAMS, str(refusal)) from None
        except Exception:
            # The SDK would send its message along, which may quote a row.
            log.exception("an MCP request failed")
            raise MCPError(types.INTERNAL_ERROR, wording.FAILED) from None

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await by(_tools))

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = tools.TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, "There is no such tool.")
        arguments = params.arguments or {}
        answer = await by(lambda caller: tools.call(caller, tool, arguments))
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], is_error=answer.failed
        )

    async def list_resources(context: Context, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await by(_resources))

    async def read_resource(
        context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = await by(lambda caller: resources.read(caller, params.uri))
        content = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[content])

    return Server(
        "remembrancer",
        version=version("remembrancer"),
        title="Remembrancer",
        description="The user's long-term memory.",
        instructions=wording.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _tools(caller: Caller) -> list[types.Tool]:
    return [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.about,
            input_schema=tool.schema,
            annotations=types.ToolAnnotations(
                title=tool.title,
                read_only_hint=not tool.adds,
                destructive_hint=tool.takes_away,
                # Asking twice is asking once.
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        for tool in tools.open_to(caller)
    ]


def _resources(caller: Caller) -> list[types.Resource]:
    if not caller.may(resources.SCOPES):
        return []
    return [
        types.Resource(
            uri=document.uri(agent),
            name=f"{document.name}-{agent.slug}",
            title=document.title,
            description=document.about,
            mime_type="text/plain",
        )
        for agent in caller.agents()
        for document in resources.DOCUMENTS
    ]
