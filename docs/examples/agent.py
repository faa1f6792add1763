"""A pydantic-ai agent that remembers.

    pip install httpx2 "pydantic-ai-slim[openai]"
    REMEMBRANCER_KEY=rmb_… OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_API_KEY=none \
        MODEL=qwen3:8b python docs/examples/agent.py "Please remember that I take the night train."

Each turn gets the memory block by its instructions, which pydantic-ai makes anew for each run and
keeps out of the history. The tool stores what the user asked to be remembered. What was said goes
to Remembrancer too, so that facts can be proposed from it.
"""

import os
import sys

from pydantic_ai import Agent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel
from remembrancer_client import Memory

agent = Agent(
    OpenAIChatModel(os.environ["MODEL"]),
    deps_type=Memory,
    instructions="You are a helpful assistant.",
)


@agent.instructions
def what_is_known(ctx: RunContext[Memory]) -> str:
    return ctx.deps.block(str(ctx.prompt))


@agent.tool
def remember(ctx: RunContext[Memory], statement: str, quote: str) -> str:
    """Store a fact about the user, who asked for it.

    Args:
        statement: One sentence that begins with "The user".
        quote: The user's own words that say so, exactly.
    """
    return ctx.deps.remember(statement, quote)


def main() -> None:
    message, memory = " ".join(sys.argv[1:]), Memory()
    memory.tell(("user", message))  # before the answer, so that the tool can cite it
    answer = agent.run_sync(message, deps=memory).output
    print(answer)
    memory.tell(("assistant", answer))


if __name__ == "__main__":
    main()
