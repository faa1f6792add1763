"""Signs an owner in without the sign-in pages, and seeds what the browser works on."""

from typing import TYPE_CHECKING

from django.test import Client

from agents.models import Agent, User
from conversations.models import Conversation
from memory.models import Fact
from memory.vocabulary import Withheld
from tests.factories import ConversationFactory
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


def sign_in(context: "BrowserContext", address: str, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    cookies = [
        {"name": name, "value": morsel.value, "url": address}
        for name, morsel in client.cookies.items()
    ]
    context.add_cookies(cookies)  # type: ignore[arg-type]


def queue_of(agent: Agent, *statements: str) -> list[Fact]:
    conversation: Conversation = ConversationFactory.create(agent=agent, title="Bees and hives")
    return [
        candidate(agent, statement, conversation=conversation, withheld_for=[Withheld.DURABLE])
        for statement in statements
    ]
