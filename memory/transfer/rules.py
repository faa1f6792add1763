"""The owner's rules of a memory file, out and in: those that stand, in their order."""

from collections import Counter
from collections.abc import Iterator

from agents.audit import Actor
from agents.models import Agent, User
from conversations.models import Import
from memory.models import Rule
from memory.rules.scope import rules_of, standing
from memory.rules.screen import fault, hash_of, tidy
from memory.rules.writing import MOST
from memory.text import normalise
from memory.transfer.lines import RuleLine
from memory.transfer.rows import Numbered, create
from memory.vocabulary import RuleOrigin

HERE = "said by a rule that is here"
UNFIT = "rules that hold a secret or hidden characters"
BY_KEY = "rules, which only a person lets in: with the command import_memories"
ABOVE = f"above the limit of {MOST} rules"


def lines_of(owner: User, agent: Agent | None) -> Iterator[RuleLine]:
    rows = standing(rules_of(owner)).select_related("agent")
    for rule in rows.filter(agent=agent) if agent else rows:
        yield RuleLine.model_construct(
            agent=rule.agent.slug if rule.agent else None,
            text=rule.text,
            enabled=rule.enabled,
            created_at=rule.created_at,
        )


class RuleWriter:
    """Takes lines when all agents are in; they come behind the rules that are here."""

    def __init__(
        self, owner: User, person: User, actor: Actor, imported: Import, agents: dict[str, Agent]
    ) -> None:
        self.owner, self.person, self.imported, self.agents = owner, person, imported, agents
        self.by_key = actor.name.startswith("key:")
        here = list(standing(rules_of(owner)))
        self.texts = {(rule.agent_id, normalise(rule.text)) for rule in here}
        self.place = max((rule.place for rule in here), default=0)
        self.left: Counter[str] = Counter()
        self._waiting: list[Numbered[Rule]] = []

    @property
    def new(self) -> int:
        return len(self._waiting)

    def take(self, number: int, line: RuleLine) -> None:
        agent = self.agents[line.agent] if line.agent else None
        key = (agent.pk if agent else None, normalise(line.text))
        if why := self._refusal(line, key):
            self.left[why] += 1
            return
        self.texts.add(key)
        self.place += 1
        row = Rule(
            owner=self.owner,
            agent=agent,
            text=line.text,
            text_hash=hash_of(line.text),
            enabled=line.enabled,
            place=self.place,
            origin=RuleOrigin.IMPORT,
            author=self.person,
            imported_by=self.imported,
            created_at=line.created_at,
        )
        self._waiting.append((number, row))

    def _refusal(self, line: RuleLine, key: tuple[object, str]) -> str:
        if self.by_key:
            return BY_KEY
        if key in self.texts:
            return HERE
        if len(self.texts) >= MOST:
            return ABOVE
        return UNFIT if tidy(line.text) != line.text or fault(line.text) else ""

    def close(self) -> None:
        create(Rule, self._waiting)
