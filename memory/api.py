"""Memory over HTTP. Thin: what recall does is in memory/recall/service.py."""

from ninja import Router

from agents.auth import KeyRequest, agent_for, require_scope
from agents.models import Agent, ApiKey
from conversations.models import Conversation
from memory.recall import record, service
from memory.recall.schemas import RecallIn, RecallOut

router = Router()


@router.post(
    "/recall",
    auth=require_scope(ApiKey.Scope.RECALL),
    response=RecallOut,
    operation_id="recall",
    summary="The block of memory for the assistant's next turn",
)
def recall(request: KeyRequest, asked: RecallIn) -> RecallOut:
    """Never fails for want of memory: while it is off, or nothing fits, the block is empty."""
    agent = agent_for(request.auth, asked.agent)
    conversation = _conversation(agent, asked)
    found = service.recall(
        agent=agent,
        message=asked.message,
        recent=asked.recent,
        conversation=conversation,
        budget=asked.budget,
    )
    record.told(recall=found, conversation=conversation)
    return RecallOut.of(found, recorded=conversation is not None, explain=asked.explain)


def _conversation(agent: Agent, asked: RecallIn) -> Conversation | None:
    """None for one that is not known yet: its first message often comes after its first recall."""
    if asked.conversation is None:
        return None
    return Conversation.objects.filter(
        owner=agent.owner, agent=agent, source=asked.source, external_id=asked.conversation
    ).first()
