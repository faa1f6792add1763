"""Who calls the API: a bearer key, which speaks for its owner and perhaps for one agent only."""

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from ninja.security import HttpBearer

from agents import keys, limits, replies
from agents.models import Agent, ApiKey


class ScopeMissing(Exception):
    """The key is good, but not for this."""


class NoSuchAgent(Exception):
    """Missing, somebody else's, or not the one that the key speaks for: all alike."""

    def __init__(self) -> None:
        super().__init__("There is no such agent for this key.")


class AgentUnnamed(Exception):
    def __init__(self) -> None:
        super().__init__("This key speaks for any agent of its owner, so name one: agent.")


class KeyRequest(HttpRequest):
    """What an operation behind `require_scope` receives."""

    auth: ApiKey


class KeyAuth(HttpBearer):
    """The key's owner becomes `request.user`, so that a cookie that came along counts nothing.

    Raises ScopeMissing, TooManyCalls and what `replies.claim` does.
    """

    def __init__(self, scope: ApiKey.Scope) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> ApiKey | None:
        key = keys.verify(token)
        request.user = key.owner if key else AnonymousUser()
        if key is not None and self.scope not in key.scopes:
            raise ScopeMissing(f"This key lacks the scope {self.scope}.")
        if key is not None:
            kind = limits.kind_of(self.scope, request.method or "")
            limits.count(key, kind)
            # What is read is read anew: memory may be off by then, or the fact forgotten.
            if kind == limits.Kind.WRITE:
                replies.claim(request, key)
        return key


def require_scope(scope: ApiKey.Scope) -> KeyAuth:
    """`auth=require_scope(…)` on every operation; a test fails for one that has none."""
    return KeyAuth(scope)


def agent_for(key: ApiKey, slug: str | None) -> Agent:
    """The agent that a request acts for. Raises NoSuchAgent, AgentUnnamed."""
    if key.agent is not None:
        if slug not in {None, key.agent.slug}:
            raise NoSuchAgent
        return key.agent
    if slug is None:
        raise AgentUnnamed
    agents = Agent.objects.filter(owner=key.owner, retired_at__isnull=True)
    agent = agents.filter(slug=slug).select_related("owner").first()
    if agent is None:
        raise NoSuchAgent
    return agent
