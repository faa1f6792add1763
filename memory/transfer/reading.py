"""Reads a memory file line by line, and once as a whole before anything of it is stored.

A file is taken or refused as one: the first thing that is wrong is named with its line.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from pydantic import ValidationError

from conversations.schemas import place_of
from memory.text import text_hash
from memory.transfer.lines import (
    FORMAT,
    LONGEST,
    PARSER,
    VERSION,
    AgentLine,
    AnyLine,
    BreadcrumbLine,
    CaseLine,
    ConversationLine,
    ConversationName,
    End,
    EntityLine,
    EntityName,
    FactLine,
    Header,
    MessageLine,
    RuleLine,
    Settings,
    SketchLine,
    TombstoneLine,
)
from memory.vocabulary import State

Numbered = tuple[int, AnyLine]
# In this order; messages and breadcrumbs follow their conversation.
ORDER: tuple[type, ...] = (
    Header, Settings, AgentLine, EntityLine, ConversationLine, FactLine, CaseLine, RuleLine,
    TombstoneLine, End,
)  # fmt: skip
PARTS: tuple[type, ...] = (MessageLine, BreadcrumbLine, SketchLine)
WITHIN: dict[type, type] = dict.fromkeys(PARTS, ConversationLine)
MOST_AGENTS = 200


class BadFile(Exception):
    """Nothing was stored. Where it is wrong and why; never what the file says."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"Line {line}: {why}")
        self.line = line


def is_ours(path: Path) -> bool:
    """Whether the first line is a header of ours, of whatever version."""
    with path.open("rb") as file:
        head = file.readline(4096)
    return f'"{FORMAT}"'.encode() in head and b'"header"' in head


def read(path: Path) -> Iterator[Numbered]:
    """Raises BadFile."""
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(LONGEST + 1):
            number += 1
            yield number, _parsed(number, raw)


def _parsed(number: int, raw: bytes) -> AnyLine:
    if len(raw) > LONGEST:
        raise BadFile(number, "is longer than any line of this format.")
    if not raw.strip():
        raise BadFile(number, "is empty.")
    if number == 1:
        _check_version(raw)
    try:
        return PARSER.validate_json(raw)
    except ValidationError as error:
        raise BadFile(number, _reason(error)) from None


def _check_version(raw: bytes) -> None:
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadFile(1, "is no header of a memory file.") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadFile(1, "is no header of a memory file.")
    if header.get("version") != VERSION:
        raise BadFile(
            1, f"the file is in another version of the format than {VERSION}; use that release."
        )


def _reason(error: ValidationError) -> str:
    """Names the field and the rule. A field that is unknown was named by the file, so it is not."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return "is not JSON in UTF-8."
    if first["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return "has no type of line that this format knows."
    known = first["loc"][1:]  # the first step is the type of line
    if first["type"] == "extra_forbidden":
        return "has a field that this format does not know."
    return f"{place_of(known)}: {first['msg'].removeprefix('Value error, ')}."


@dataclass(slots=True)
class Seen:
    """Of a fact, what others are checked against."""

    line: int
    state: State
    agent: str | None
    successor: UUID | None
    targets: tuple[UUID, ...]


@dataclass
class Checked:
    """A file that may be stored. `facts` by id; `lines` counts all."""

    header: Header
    facts: dict[UUID, Seen] = field(default_factory=dict)
    agents: dict[str, AgentLine] = field(default_factory=dict)
    conversations: int = 0
    messages: int = 0
    tombstones: int = 0
    lines: int = 0

    @property
    def is_whole(self) -> bool:
        return self.header.agent is None


def check(path: Path) -> Checked:
    """Raises BadFile."""
    numbered = read(path)
    number, header = next(numbered, (1, None))
    if not isinstance(header, Header):
        raise BadFile(1, "is no header of a memory file.")
    checker = Checker(Checked(header))
    for number, line in numbered:
        checker.take(number, line)
    checker.finish(number)
    return checker.found


class Checker:
    def __init__(self, found: Checked) -> None:
        self.found = found
        self.place, self.seqs = 0, 0
        self.talks: dict[ConversationName, set[str]] = {}
        self.talk: set[str] = set()
        self.last_seq, self.marks = 0, (0, 0, 0, 0)
        self.entities: set[EntityName] = set()
        self.live: set[tuple[str | None, str]] = set()
        self.pointers: list[tuple[int, UUID]] = []

    def take(self, number: int, line: AnyLine) -> None:
        self._check_order(number, line)
        self.found.lines = number
        if isinstance(line, AgentLine):
            self._agent(number, line)
        elif isinstance(line, EntityLine):
            self.entities.add((line.kind, line.name))
        elif isinstance(line, ConversationLine):
            self._conversation(number, line)
        elif isinstance(line, MessageLine):
            self._message(number, line)
        elif isinstance(line, BreadcrumbLine):
            self._known_message(number, line.message)
        elif isinstance(line, FactLine):
            self._fact(number, line)
        elif isinstance(line, CaseLine):
            self._case(number, line)
        elif isinstance(line, RuleLine):
            self._known_agent(number, line.agent)
        elif isinstance(line, TombstoneLine):
            self.found.tombstones += 1
        elif isinstance(line, End) and line.lines != number - 1:
            raise BadFile(number, f"the file should have {line.lines} lines before its end.")

    def _check_order(self, number: int, line: AnyLine) -> None:
        within = WITHIN.get(type(line))
        if within is not None:
            if self.place != ORDER.index(within):
                raise BadFile(number, "belongs to no conversation above it.")
            return
        place = ORDER.index(type(line))
        once = type(line) in (Header, Settings, End)
        if place < self.place or (once and place == self.place):
            raise BadFile(number, f"a {line.type} line can't stand here.")
        self._close_conversation(number)
        self.place = place

    def _agent(self, number: int, line: AgentLine) -> None:
        agents = self.found.agents
        if line.slug in agents:
            raise BadFile(number, "names an agent a second time.")
        if line.is_default and any(agent.is_default for agent in agents.values()):
            raise BadFile(number, "is a second default agent.")
        if len(agents) >= MOST_AGENTS:
            raise BadFile(number, f"has more than {MOST_AGENTS} agents.")
        agents[line.slug] = line

    def _known_agent(self, number: int, slug: str | None) -> None:
        if slug is not None and slug not in self.found.agents:
            raise BadFile(number, "names an agent that the file does not have.")

    def _conversation(self, number: int, line: ConversationLine) -> None:
        self._known_agent(number, line.agent)
        name = (line.source, line.id)
        if name in self.talks:
            raise BadFile(number, "names a conversation a second time.")
        self.talk = self.talks[name] = set()
        marks = line.cursor_seq, line.compacted_seq, line.case_seq
        self.last_seq, self.marks = 0, (number, *marks)
        self.found.conversations += 1

    def _close_conversation(self, number: int) -> None:
        line, *marks = self.marks
        if max(marks) > self.last_seq:
            raise BadFile(line, "was read or summarised further than its messages go.")
        self.marks = (0, 0, 0, 0)

    def _message(self, number: int, line: MessageLine) -> None:
        if line.id in self.talk or line.seq <= self.last_seq:
            raise BadFile(number, "repeats the id of a message, or is out of its order.")
        self._known_message(number, line.parent)
        self._known_message(number, line.replaces)
        self.talk.add(line.id)
        self.last_seq = line.seq
        self.found.messages += 1

    def _known_message(self, number: int, client_id: str | None) -> None:
        if client_id is not None and client_id not in self.talk:
            raise BadFile(number, "names a message that is not above it.")

    def _fact(self, number: int, line: FactLine) -> None:
        facts = self.found.facts
        if line.id in facts:
            raise BadFile(number, "names a fact a second time.")
        self._known_agent(number, line.agent)
        facts[line.id] = Seen(
            number, line.state, line.agent, line.superseded_by, tuple(dict.fromkeys(line.targets))
        )
        if line.is_live:
            text = (line.agent, text_hash(line.statement))
            if text in self.live:
                raise BadFile(number, "repeats the text of a pending or active fact of its scope.")
            self.live.add(text)
        others = (line.superseded_by, line.similar_to, *line.targets, *line.derived_from)
        self.pointers += ((number, other) for other in others if other is not None)
        if self.found.is_whole:
            self._check_sources(number, line)

    def _check_sources(self, number: int, line: FactLine) -> None:
        if not self.entities.issuperset(line.entities):
            raise BadFile(number, "names an entity that the file does not have.")
        if self.found.header.conversations and any(
            part.message not in self.talks.get(part.conversation, ()) for part in line.evidence
        ):
            raise BadFile(number, "cites a message that the file does not have.")

    def _case(self, number: int, line: CaseLine) -> None:
        self._known_agent(number, line.agent)
        cited = ((line.conversation, None), *((s.conversation, s.message) for s in line.sources))
        if self.found.is_whole and any(
            talk not in self.talks or (message and message not in self.talks[talk])
            for talk, message in cited
        ):
            raise BadFile(number, "tells of messages that the file does not have.")

    def finish(self, number: int) -> None:
        if self.place != ORDER.index(End):
            raise BadFile(number, "the file ends here, before its end line: it was cut short.")
        if self.found.is_whole:
            self._check_pointers()
        self._check_chains()
        self._check_pairs()
        self._check_versions()

    def _check_pointers(self) -> None:
        for number, other in self.pointers:
            if other not in self.found.facts:
                raise BadFile(number, "points at a fact that the file does not have.")

    def _check_chains(self) -> None:
        facts, sound = self.found.facts, set[UUID]()
        for start in facts:
            walked: dict[UUID, None] = {}
            step: UUID | None = start
            while step is not None and step in facts and step not in sound:
                if step in walked:
                    raise BadFile(facts[start].line, "the chain of its successors is a circle.")
                walked[step] = None
                step = facts[step].successor
            sound.update(walked)

    def _check_pairs(self) -> None:
        corrected = set[UUID]()
        for fact, seen in self.found.facts.items():
            for target in seen.targets:
                self._check_pair(fact, seen, target, corrected)

    def _check_pair(self, fact: UUID, seen: Seen, target: UUID, corrected: set[UUID]) -> None:
        if fact == target:
            raise BadFile(seen.line, "would replace itself.")
        other = self.found.facts.get(target)
        if other is None:
            return
        if seen.agent != other.agent:
            raise BadFile(seen.line, "would replace a fact of another scope.")
        if seen.state == State.PENDING and other.state == State.ACTIVE:
            if target in corrected:
                raise BadFile(seen.line, "is a second open correction of one fact.")
            corrected.add(target)

    def _check_versions(self) -> None:
        """Of what replaced a fact, however many steps ago, and the fact itself, one is active."""
        facts, stood_for = self.found.facts, dict[UUID, UUID]()
        for fact, seen in facts.items():
            todo = [fact] if seen.state == State.ACTIVE else []
            walked = set(todo)
            while todo:
                step = todo.pop()
                if stood_for.setdefault(step, fact) != fact:
                    raise BadFile(seen.line, "is active beside another version of the same fact.")
                below = {one for one in facts[step].targets if one in facts} - walked
                walked |= below
                todo += below
