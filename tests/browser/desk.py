"""Signs an owner in without the sign-in pages, seeds what is worked on, and presses keys."""

from typing import TYPE_CHECKING

from django.test import Client
from playwright.sync_api import expect

from agents.models import Agent, User
from conversations.models import Conversation
from memory.models import Fact
from memory.vocabulary import Withheld
from tests.browser.watching import wait_until
from tests.factories import ConversationFactory
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


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


AT_A_CARD = "document.activeElement.matches('[data-card], [data-after-cards]')"


class Keyboard:
    """Presses keys, counts them, and waits for the focus to be where the next one is meant."""

    def __init__(self, page: "Page") -> None:
        self.page, self.presses = page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.presses += 1

    def decide(self, *keys: str) -> None:
        decided = self.page.locator(".result").count() + 1
        self.press(*keys)
        expect(self.page.locator(".result")).to_have_count(decided)
        wait_until(self.page, AT_A_CARD)
