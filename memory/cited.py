"""The message that an assistant points at when it asks to remember something."""

from dataclasses import dataclass

from agents.models import Agent
from conversations import reading
from conversations.models import Conversation, Message
from memory.text import contains_quote

# The owner's last messages, among which a quote without a message's id is looked for.
RECENT = 50


class NoSuchMessage(Exception):
    def __init__(self) -> None:
        super().__init__("There is no such message in that conversation.")


@dataclass(frozen=True, slots=True)
class Citation:
    """A conversation of the agent's, and the message in it that holds the quote, if one does."""

    conversation: Conversation
    message: Message | None
    quote: str


def citation(
    *, agent: Agent, source: str, conversation: str, message: str | None, quote: str
) -> Citation:
    """By the ids that the client gave. Without a message it is the newest of the owner's that holds
    the quote. Raises NoSuchConversation, NoSuchMessage."""
    talk = reading.conversation(agent, source, conversation)
    standing = talk.messages.filter(on_branch=True).exclude(content=Message.PURGED)
    if message is not None:
        found = standing.filter(client_id=message).first()
        if found is None:
            raise NoSuchMessage
        return Citation(talk, found, quote)
    said = standing.filter(from_owner=True, kind=Message.Kind.SAID).order_by("-seq")[:RECENT]
    holds = (row for row in said if quote and contains_quote(row.content, quote))
    return Citation(talk, next(holds, None), quote)
