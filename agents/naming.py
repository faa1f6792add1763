"""Finds the owner and the agent that a command line names, and says who there is if it can't."""

from agents.models import Agent, User


class Unnamed(Exception):
    """Nobody, or more than one, goes by that name. The message lists who there is."""


def owner_named(username: str | None) -> User:
    """Without a name the only owner. Raises Unnamed."""
    people = list(User.objects.filter(is_active=True).order_by("username"))
    found = people if username is None else [p for p in people if p.username == username]
    if len(found) == 1:
        return found[0]
    names = ", ".join(person.username for person in people)
    if not people:
        raise Unnamed("There is no account yet; the first start makes one.")
    if username is None:
        raise Unnamed(f"Say whose memory it is with --owner: {names}.")
    raise Unnamed(f"There is no owner {username!r}. There is: {names}.")


def agent_named(owner: User, slug: str | None) -> Agent:
    """Without a name the owner's default agent. Raises Unnamed."""
    kept = Agent.objects.filter(owner=owner, retired_at__isnull=True)
    agents = list(kept.select_related("owner").order_by("slug"))
    found = [a for a in agents if (a.is_default if slug is None else a.slug == slug)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(agent.slug for agent in agents) or "none at all"
    if slug is None:
        raise Unnamed(f"{owner.username} has no default agent. Name one with --agent: {names}.")
    raise Unnamed(f"{owner.username} has no agent {slug!r}. There is: {names}.")
