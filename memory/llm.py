"""The port to a language model: one question, one structured reply, typed errors, counted tokens.

Asked through pydantic-ai, over any OpenAI-compatible endpoint or Anthropic. By default the reply
comes as a tool call (LLM_OUTPUT=tool), which the most servers understand: OpenAI and its
look-alikes, Ollama, vLLM, llama.cpp, Anthropic. Servers without tool calls take LLM_OUTPUT=schema
(the endpoint's own JSON schema mode) or prompt (the schema stands in the prompt).
Neither prompts nor replies are ever logged, and no error carries any of their text.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.conf import settings
from pydantic import BaseModel, ValidationError

from conversations.models import Conversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openai import AsyncOpenAI
    from pydantic_ai.messages import UserContent
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RunUsage

    Question = str | Sequence[UserContent]

GENERAL, PRIVATE, VISION = "general", "private", "vision"
PICTURE = "image/jpeg"
TOOL, SCHEMA, PROMPT = OUTPUTS = ("tool", "schema", "prompt")
OPENAI, ANTHROPIC = PROVIDERS = ("openai", "anthropic")
OPENAI_HOST = "api.openai.com"

# After a bad reply the model is told once what was wrong with it.
RETRIES = 1

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Route:
    """An endpoint and its model. `name` is general, private or vision."""

    name: str
    model: str
    provider: str = OPENAI
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    output: str = TOOL


@dataclass(frozen=True)
class Usage:
    """Requests that were sent, and the tokens that their replies reported."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True)
class Completion(Generic[R]):
    reply: R
    usage: Usage


class LlmError(Exception):
    """The message is for people and holds nothing of what was asked or answered."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class LlmUnavailable(LlmError):
    """No connection, a server error, or no answer in time. The same question may work later."""


class LlmRateLimited(LlmError):
    """`retry_after` in seconds, where the endpoint named it."""

    def __init__(self, message: str, usage: Usage, retry_after: float | None) -> None:
        super().__init__(message, usage)
        self.retry_after = retry_after


class LlmBadReply(LlmError):
    """Not in the form that was asked for, nor after the one retry."""


class LlmRefused(LlmError):
    """The model declines, or the endpoint rejects the request: key, model name, size, content."""


def route_for(conversation: Conversation) -> Route | None:
    """A sensitive conversation has the private route or none; it never falls back."""
    return configured(PRIVATE if conversation.sensitive else GENERAL)


def configured(name: str) -> Route | None:
    values = settings.LLM_ROUTES.get(name)
    return Route(name=name, **values) if values and values["model"] else None


def complete(
    route: Route, system: str, user: str, reply_type: type[R], *, picture: bytes | None = None
) -> Completion[R]:
    """Blocks for at most LLM_TIMEOUT_SECONDS, the one retry included. `picture`: a JPEG that the
    question is about. Raises LlmError."""
    from pydantic_ai.usage import RunUsage

    spent = RunUsage()
    with _typed_errors(route, spent):
        reply = asyncio.run(_ask(route, system, _question(user, picture), reply_type, spent))
    return Completion(reply, _usage(spent))


def _question(user: str, picture: bytes | None) -> "Question":
    if picture is None:
        return user
    from pydantic_ai import BinaryContent

    return [user, BinaryContent(picture, media_type=PICTURE)]


async def _ask(
    route: Route, system: str, user: "Question", reply_type: type[R], spent: "RunUsage"
) -> R:
    from pydantic_ai import Agent
    from pydantic_ai.usage import UsageLimits

    # The libraries take seconds to load, which are not the model's.
    client = _client(route)
    model = _model(route, client)
    async with asyncio.timeout(settings.LLM_TIMEOUT_SECONDS), client:
        agent = Agent(
            model,
            output_type=_output(route, reply_type),
            instructions=system,
            retries=RETRIES,
        )
        result = await agent.run(
            user,
            usage=spent,
            usage_limits=UsageLimits(
                request_limit=1 + RETRIES,
                per_request_input_tokens_limit=settings.LLM_MAX_INPUT_TOKENS,
            ),
            model_settings={"max_tokens": settings.LLM_MAX_OUTPUT_TOKENS},
        )
        reply: R = result.output
        return reply


def _output(route: Route, reply_type: type[R]) -> Any:
    from pydantic_ai import NativeOutput, PromptedOutput, ToolOutput

    name = reply_type.__name__
    if route.output == SCHEMA:
        return NativeOutput(reply_type, name=name)
    if route.output == PROMPT:
        return PromptedOutput(reply_type, name=name)
    return ToolOutput(reply_type, name=name, description="Hand in the reply.")


def _client(route: Route) -> Any:
    """Without retries of its own or redirects: what is private goes to the named host or nowhere.

    Address and key are always given, because the libraries would take them from their own
    environment variables.
    """
    import anthropic
    import openai

    timeout = settings.LLM_TIMEOUT_SECONDS
    if route.provider == ANTHROPIC:
        return anthropic.AsyncAnthropic(
            api_key=route.api_key or "none",
            base_url=route.base_url or "https://api.anthropic.com",
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False),
        )
    return openai.AsyncOpenAI(
        api_key=route.api_key or "none",
        base_url=route.base_url or f"https://{OPENAI_HOST}/v1",
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False),
    )


def _model(route: Route, client: Any) -> "Model":
    if route.provider == ANTHROPIC:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(route.model, provider=AnthropicProvider(anthropic_client=client))
    return _openai_model(route, client)


def _openai_model(route: Route, client: "AsyncOpenAI") -> "Model":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    class TolerantChatModel(OpenAIChatModel):
        def _validate_completion(self, response: Any) -> Any:
            _spell_out_arguments(response)
            return super()._validate_completion(response)

    if client.base_url.host == OPENAI_HOST:
        return OpenAIChatModel(route.model, provider=OpenAIProvider(openai_client=client))
    provider = OpenAICompatibleProvider(
        "openai-compatible",
        openai_client=client,
        # The older name of the limit, which every such server knows.
        profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
    )
    return TolerantChatModel(route.model, provider=provider)


def _spell_out_arguments(response: Any) -> None:
    """The protocol has the arguments of a call as a string of JSON; some servers send an object."""
    for choice in response.choices or ():
        for call in choice.message.tool_calls or ():
            if not isinstance(call.function.arguments, str):
                call.function.arguments = json.dumps(call.function.arguments)


@contextmanager
def _typed_errors(route: Route, spent: "RunUsage") -> Iterator[None]:
    """The library's errors quote the reply, so they end here, chain included."""
    from pydantic_ai.exceptions import AgentRunError, UserError

    try:
        yield
    except TimeoutError:
        raise LlmUnavailable(
            f"The language model did not answer within {settings.LLM_TIMEOUT_SECONDS} seconds.",
            _usage(spent, unanswered=1),
        ) from None
    except (AgentRunError, UserError) as error:
        raise _translated(error, route, spent) from None


def _translated(error: Exception, route: Route, spent: "RunUsage") -> LlmError:
    from pydantic_ai import exceptions as theirs

    if isinstance(error, theirs.ModelAPIError):
        return _about_endpoint(error, route, _usage(spent, unanswered=1))
    usage = _usage(spent)
    if isinstance(error, theirs.ContentFilterError):
        return LlmRefused("The language model refused to answer.", usage)
    if isinstance(error, theirs.UsageLimitExceeded):
        return LlmBadReply("The window took more tokens than one call may use.", usage)
    if isinstance(error, (theirs.IncompleteToolCall, theirs.OutputTokenLimitExceeded)):
        limit = settings.LLM_MAX_OUTPUT_TOKENS
        return LlmBadReply(f"The reply was cut off at {limit} tokens.", usage)
    return LlmBadReply(_what_was_wrong(error), usage)


def _about_endpoint(error: Any, route: Route, usage: Usage) -> LlmError:
    from pydantic_ai import exceptions as theirs

    if isinstance(error, theirs.ModelRateLimitError):
        return LlmRateLimited(
            "The language model's rate limit is reached.", usage, error.retry_after
        )
    if isinstance(error, theirs.ModelQuotaExceededError):
        return LlmRateLimited("The language model's quota is used up.", usage, error.retry_after)
    if isinstance(error, theirs.ModelAuthenticationError):
        return LlmRefused("The language model rejected the API key.", usage)
    if isinstance(error, theirs.ModelNotFoundError):
        return LlmRefused(f"The endpoint knows no model named {route.model}.", usage)
    if isinstance(error, theirs.ModelContextWindowExceededError):
        return LlmRefused("The window is longer than the language model can read.", usage)
    if isinstance(error, theirs.ModelRequestRejectedError):
        return LlmRefused(f"The language model rejected the request{_status(error)}.", usage)
    if isinstance(error, theirs.ModelConnectionError):
        return LlmUnavailable("The connection to the language model failed or broke off.", usage)
    return LlmUnavailable(f"The language model's server failed{_status(error)}.", usage)


def _status(error: Any) -> str:
    status = getattr(error, "status_code", None)
    return f" (HTTP {status})" if status else ""


def _what_was_wrong(error: Exception) -> str:
    """Names fields and rules, never what the reply said."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ValidationError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return "The language model did not reply in the form that was asked for."
    if cause.title == "ChatCompletion":
        return "The endpoint's answer is not in the protocol of an OpenAI-compatible server."
    problems = [
        f"{_place(problem['loc'])}: {problem['type']}"
        for problem in cause.errors(include_input=False, include_url=False, include_context=False)
    ]
    return f"The language model's reply broke the format twice ({'; '.join(problems[:3])})."


def _place(location: tuple[int | str, ...]) -> str:
    """An unknown field's name came from the model, so only plain short ones are repeated."""
    parts = [str(part) for part in location]
    return ".".join(p if re.fullmatch(r"\w{1,30}", p, re.ASCII) else "…" for p in parts) or "reply"


def _usage(spent: "RunUsage", unanswered: int = 0) -> Usage:
    return Usage(spent.requests + unanswered, spent.input_tokens, spent.output_tokens)
