"""What the proxy adds to a chat before the model server's first byte.

    python -m bench.proxy [--questions 300] [--facts 1000]

An owner's chat, word by word as a stream, goes straight to a scripted model server and through the
web server of `make up` in turns; what is told is the difference of each pair. The last line is one
JSON object, in milliseconds.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from bench import home
from bench.live import Server

if TYPE_CHECKING:
    from bench.seed import Seeder

# Asked before any is counted.
WARM = 10
PATH = "/v1/chat/completions"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--facts", type=int, default=1_000)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="bench-proxy-") as folder:
        home.start(Path(folder))
        told = overhead(options.questions, facts=options.facts)
        home.stop()
    print(json.dumps({"proxy_overhead_ms": told}))


def overhead(n: int, *, facts: int = 1_000, seeder: "Seeder | None" = None) -> dict[str, float]:
    """Over `n` questions of an owner of so many facts. A home must have been started; the web
    server is one of its own."""
    from django.conf import settings

    from tests.upstream_server import scripted_upstream, streams

    key, questions = _owner(n + WARM, facts, seeder)
    with scripted_upstream() as upstream:
        upstream.script(*[streams("Well, ", "I see.") for _ in range(2 * len(questions))])
        os.environ |= {"UPSTREAM_BASE_URL": upstream.url, "API_CALLS_PER_MINUTE": "0"}
        server = Server(settings.HOME)
        try:
            server.wait()
            added = _compare(urlsplit(upstream.url).port or 0, server.port, key, questions)
        finally:
            del os.environ["UPSTREAM_BASE_URL"], os.environ["API_CALLS_PER_MINUTE"]
            server.stop()
    p50, p95 = np.percentile(added[WARM:], (50, 95))
    return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


def _owner(questions: int, facts: int, seeder: "Seeder | None") -> tuple[str, list[str]]:
    from bench.seed import Seeder

    seeder = seeder or Seeder(home.bench_url())
    owner = seeder.owner("proxied", facts)
    seeder.fill([owner])
    seeder.settle()
    key = home.api_key(owner.user, ["proxy"], owner.agent)
    return key, [seeder.question(owner, number) for number in range(questions)]


def _compare(direct: int, through: int, key: str, questions: list[str]) -> list[float]:
    ends = [HTTPConnection("127.0.0.1", port, timeout=60) for port in (direct, through)]
    added, told = [], Counter[str]()
    for question in questions:
        (alone, _), (proxied, status) = (_first_byte(end, key, question) for end in ends)
        added.append(proxied - alone)
        told[status] += 1
    print(f"memory: {dict(told)}", file=sys.stderr)
    return added


def _first_byte(end: HTTPConnection, key: str, question: str) -> tuple[float, str]:
    """Milliseconds, and what was told of memory."""
    messages = [{"role": "user", "content": question}]
    body = json.dumps({"model": "scripted", "stream": True, "messages": messages})
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    began = time.perf_counter()
    end.request("POST", PATH, body, headers)
    answer = end.getresponse()
    answer.read(1)
    took = 1000 * (time.perf_counter() - began)
    rest = answer.read()
    if answer.status != 200 or b"[DONE]" not in rest:
        raise RuntimeError(f"{answer.status}: {rest[:300]!r}")
    return took, answer.headers.get("X-Remembrancer-Memory", "")


if __name__ == "__main__":
    main()
