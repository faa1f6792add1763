"""Who calls: a key, which is looked at anew for every request, since it may be revoked any time."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.access import agents_of
from agents.auth import AgentUnnamed, NoSuchAgent, agent_for
from agents.models import Agent, ApiKey

Scope = ApiKey.Scope


class KeyGone(Exception):
    def __init__(self) -> None:
        super().__init__("The key is unknown, expired or revoked. Ask its owner for another.")


class Refused(Exception):
    """Told to the model, in plain words. Holds nothing from memory."""


@dataclass(frozen=True, slots=True)
class Caller:
    key: ApiKey

    def may(self, scopes: frozenset[Scope]) -> bool:
        return not scopes.isdisjoint(self.key.scopes)

    def agents(self) -> list[Agent]:
        """Those that it may speak for."""
        if self.key.agent is not None:
            return [self.key.agent]
        return list(agents_of(self.key.owner).select_related("owner"))

    def agent(self, slug: str | None) -> Agent:
        """An owner with one assistant need not name it. Raises Refused."""
        try:
            return agent_for(self.key, slug)
        except AgentUnnamed as error:
            found = self.agents()
            if len(found) == 1:
                return found[0]
            raise Refused(
                "Name the agent, with its slug; list_agents tells which there are."
            ) from error
        except NoSuchAgent as error:
            raise Refused(
                "There is no such agent for this key; list_agents tells which there are."
            ) from error


Identify = Callable[[], Caller]
