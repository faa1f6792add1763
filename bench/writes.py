"""Writes facts of one owner, so many a second, until it is ended. For the bench of speed, which
sets the environment."""

import itertools
import sys
import time

import django

django.setup()

from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from agents.models import Agent, User  # noqa: E402
from memory import embedding  # noqa: E402
from memory.models import Fact  # noqa: E402
from memory.text import text_hash  # noqa: E402
from memory.vocabulary import Kind, Origin, State  # noqa: E402


def main(name: str, a_second: float) -> None:
    owner = User.objects.get(username=name)
    agent = Agent.objects.get(owner=owner, slug="main")
    embedding.warm_up()
    print("writing", flush=True)
    for number in itertools.count():
        started = time.monotonic()
        write(owner, agent, f"The user wrote down remark {number} of {started} about the garden.")
        time.sleep(max(0.0, 1 / a_second - (time.monotonic() - started)))


def write(owner: User, agent: Agent, statement: str) -> None:
    now = timezone.now()
    with transaction.atomic():
        fact = Fact.objects.create(
            owner=owner, agent=agent, kind=Kind.SEMANTIC, statement=statement,
            text_hash=text_hash(statement), language="english", state=State.ACTIVE,
            origin=Origin.REMEMBER, reviewer=owner, reviewed_at=now, confidence=0.9,
            observed_at=now, last_confirmed_at=now,
        )  # fmt: skip
    embedding.store_embeddings([fact])


main(sys.argv[1], float(sys.argv[2]))
