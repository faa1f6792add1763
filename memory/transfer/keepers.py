"""Whose a file's facts become. One that names an assistant which was deleted here comes to whoever
stands for it, or nobody would read it; what is on record only stays where it was."""

from collections.abc import Mapping

from agents.models import Agent, User
from memory.transfer.lines import FactLine


def agents_here(owner: User) -> dict[str, Agent]:
    """By slug, those included that were deleted: their slugs are taken."""
    agents = Agent.objects.filter(owner=owner).select_related("heir__heir")
    return {agent.slug: agent for agent in agents}


def keeper(line: FactLine, agents: Mapping[str, Agent]) -> Agent | None:
    if line.agent is None:
        return None
    agent = agents[line.agent]
    return agent.acting() if line.is_live else agent
