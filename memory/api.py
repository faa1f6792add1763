"""Memory over HTTP. Thin: what recall does is in memory/recall/service.py."""

from ninja import Router

from agents.auth import KeyRequest, agent_for, require_scope
from agents.models import ApiKey
from memory.recall import record, service, withheld
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
    talk = None
    if asked.conversation is not None:
        talk = record.Talk(agent, asked.source, asked.conversation)
    conversation = talk.found() if talk else None
    may_review = ApiKey.Scope.REVIEW in request.auth.scopes
    found = service.recall(
        agent=agent,
        message=asked.message,
        recent=asked.recent,
        conversation=conversation,
        budget=asked.budget,
        as_of=asked.as_of,
        # An assistant is not told again what the owner took back; who may review may look.
        withdrawn=may_review,
    )
    is_remembered = record.told(recall=found, talk=talk, conversation=conversation)
    # Which facts wait or were rejected is the owner's to know, as are their texts.
    kept_back = asked.explain and asked.as_of is None and may_review
    return RecallOut.of(
        found,
        recorded=talk is not None and is_remembered,
        explain=asked.explain,
        withheld=withheld.look(agent=agent, message=asked.message) if kept_back else (),
    )
