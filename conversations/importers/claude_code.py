"""Sessions of Claude Code: JSONL, an entry per line, each naming its parent and its session.

Results of tools, summaries and what the program itself puts in arrive as lines of the user; only
what was typed is the owner's. An old session that is resumed or forked is copied into the new
file: what says where it was copied from goes there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.importers import blocks
from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.blocks import Piece
from conversations.importers.files import TextFile
from conversations.importers.loose import at, identifier, string
from conversations.importers.scan import Element
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.importers.tree import Tree
from conversations.models import Message

SOURCE = "claude-code"
_ENTRY = {"uuid", "parentUuid", "leafUuid", "messageId"}
_SPOKEN = {"user": Message.Role.USER, "assistant": Message.Role.ASSISTANT}
_FLAGS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
# Put into the user's line by the program.
_INSERTED = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|user-prompt-submit-hook)>.*?</\1>", re.DOTALL
)
_NOTICE = re.compile(
    r"<(command-|local-command-caveat|bash-input)|Caveat: The messages below were generated"
    r"|\[Request interrupted by user|This session is being continued from a previous conversation"
)
_OUTPUT = re.compile(r"<(local-command-std|bash-std|task-notification)")


class ClaudeCode:
    name = SOURCE
    what = "session .jsonl of Claude Code"

    def recognises(self, head: str) -> bool:
        found = keys(head)
        if "type" not in found:
            return False
        return "leafUuid" in found or ("sessionId" in found and not _ENTRY.isdisjoint(found))

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        sessions = _Sessions(file.name, report)
        for line in file.lines():
            try:
                sessions.take(line)
            except ValueError as error:
                report.broken.append(f"{file.name}, line {line.number}: {error}")
        yield from sessions.conversations()


FORMAT = ClaudeCode()


@dataclass
class _Session:
    """All entries as a tree, also those that say nothing, since others hang on them."""

    place: str
    title: str = ""
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: dict[str, list[ParsedMessage]] = field(default_factory=dict)


class _Sessions:
    def __init__(self, file: str, report: Report) -> None:
        self.file, self.report = file, report
        self.sessions: dict[str, _Session] = {}
        self.titles: dict[str, str] = {}
        self.current = ""

    def take(self, line: Element) -> None:
        """Raises ValueError."""
        entry = line.value()
        if not isinstance(entry, dict):
            raise ValueError("is no object")
        kind = string(entry.get("type"))
        if kind == "summary":
            self.titles[string(entry.get("leafUuid"))] = string(entry.get("summary"))
            return
        session = self._session(entry, line)
        if kind in {"custom-title", "ai-title"}:
            session.title = string(entry.get("customTitle")) or string(entry.get("aiTitle"))
            return
        said = self._said(entry, kind, line)
        if said is None:
            return
        name = _name(entry, line)
        if session.said.get(name):
            if said:
                self.report.skipped["messages whose id comes twice"] += 1
            return
        parent = identifier(entry.get("parentUuid")) or identifier(entry.get("logicalParentUuid"))
        session.nodes[name] = {"parent": parent or None}
        session.said[name] = said

    def conversations(self) -> Iterator[ParsedConversation]:
        for name, session in self.sessions.items():
            if any(session.said.values()):
                titles = [self.titles[one] for one in session.nodes if self.titles.get(one)]
                yield ParsedConversation(
                    place=session.place,
                    source=SOURCE,
                    external_id=name,
                    title=session.title or (titles[-1] if titles else ""),
                    messages=_messages(session, self.report),
                )

    def _session(self, entry: dict[str, Any], line: Element) -> _Session:
        copied = identifier(at(entry, "forkedFrom", "sessionId"))
        self.current = copied or identifier(entry.get("sessionId")) or self.current or self.file
        if self.current not in self.sessions:
            self.sessions[self.current] = _Session(f"{self.file}, line {line.number}")
        return self.sessions[self.current]

    def _said(self, entry: dict[str, Any], kind: str, line: Element) -> list[ParsedMessage] | None:
        """An empty list says nothing, but may have others hang on it. Raises ValueError."""
        role = _SPOKEN.get(kind)
        if role is None:
            self.report.skipped["entries that hold no message"] += 1
            return [] if identifier(entry.get("uuid")) else None
        if entry.get("isSidechain") is True:
            self.report.skipped["messages of sub-agents"] += 1
            return None
        if not isinstance(entry.get("message"), dict):
            raise ValueError("has no message")
        found = _pieces(entry, role, self.report)
        if not found:
            self.report.skipped["empty messages"] += 1
        return blocks.messages(found, _name(entry, line), moment(entry.get("timestamp")))


def _name(entry: dict[str, Any], line: Element) -> str:
    copied = identifier(at(entry, "forkedFrom", "messageUuid"))
    return copied or identifier(entry.get("uuid")) or f"line-{line.number}"


def _pieces(entry: dict[str, Any], role: Message.Role, report: Report) -> list[Piece]:
    found = blocks.pieces(entry["message"].get("content"), role, report)
    if role != Message.Role.USER:
        return found
    if any(entry.get(flag) is True for flag in _FLAGS):
        return [_by(piece, Message.Role.SYSTEM) for piece in found]
    if entry.get("toolUseResult") is not None:
        return [_by(piece, Message.Role.TOOL) for piece in found]
    typed = [_typed(piece) for piece in found]
    return [piece for piece in typed if piece.text.strip()]


def _by(piece: Piece, role: Message.Role) -> Piece:
    return replace(piece, role=role) if piece.role == Message.Role.USER else piece


def _typed(piece: Piece) -> Piece:
    if piece.role != Message.Role.USER:
        return piece
    text = _INSERTED.sub("", piece.text).strip()
    if _NOTICE.match(text):
        return Piece(Message.Role.SYSTEM, text)
    if _OUTPUT.match(text):
        return Piece(Message.Role.TOOL, text)
    return Piece(piece.role, text)


def _messages(session: _Session, report: Report) -> list[ParsedMessage]:
    tree = Tree(session.nodes)
    if tree.lost:
        report.skipped["messages that hang on nothing"] += tree.lost
    on_branch = _on_branch(tree, session)
    made: list[ParsedMessage] = []
    for name in session.nodes:
        if name not in tree.order:
            continue
        above = next((one for one in tree.above(name) if session.said[one]), None)
        for number, message in enumerate(session.said[name]):
            parent = message.parent if number else above and session.said[above][-1].client_id
            made.append(replace(message, parent=parent, on_branch=name in on_branch))
    return made


def _on_branch(tree: Tree, session: _Session) -> set[str]:
    """Where the session goes back to an earlier message, what was typed last counts.

    A session may have several roots, as a compaction begins a new one. Calls of tools that run
    beside each other fork too; those belong to the branch.
    """
    roots: dict[str, str] = {}
    for name in tree.order:
        above = next(tree.above(name), None)
        roots[name] = name if above is None else roots[above]
    newest = {roots[name]: name for name in session.nodes if name in roots and session.said[name]}
    branch = {name for last in newest.values() for name in tree.path_to(last)}
    for name in tree.order:
        above = next(tree.above(name), None)
        if above in branch and all(m.role == Message.Role.TOOL for m in session.said[name]):
            branch.add(name)
    return branch
