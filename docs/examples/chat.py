"""A chat in the terminal that remembers, with any model server that speaks OpenAI's protocol.

    pip install httpx2 openai
    REMEMBRANCER_KEY=rmb_… OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_API_KEY=none \
        MODEL=qwen3:8b python docs/examples/chat.py

An empty line ends it.
"""

import os
from typing import Any

from openai import OpenAI
from remembrancer_client import Memory


def main() -> None:
    model, memory = OpenAI(), Memory()
    history: list[Any] = [{"role": "system", "content": "You are a helpful assistant."}]
    while message := _typed():
        block = memory.block(message)
        # Behind what was typed, and not kept: what is known is asked anew each turn.
        prompt = f"{message}\n\n{block}" if block else message
        answer = model.chat.completions.create(
            model=os.environ["MODEL"], messages=[*history, {"role": "user", "content": prompt}]
        )
        text = answer.choices[0].message.content or ""
        print(f"< {text}")
        history += [
            {"role": "user", "content": message},
            {"role": "assistant", "content": text},
        ]
        memory.tell(("user", message), ("assistant", text))


def _typed() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""


if __name__ == "__main__":
    main()
