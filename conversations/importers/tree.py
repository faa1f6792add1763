"""A tree of messages as exports write it, where pointers may be missing, wrong or circular."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from conversations.importers.base import ParsedMessage, Report

_NEVER = datetime.min.replace(tzinfo=UTC)


class Tree:
    """`order` holds the names of all nodes that hang on a root, parents first, siblings in the
    order of the export; `lost` counts the others, which run in a circle."""

    def __init__(self, nodes: Mapping[str, Any]) -> None:
        self.nodes = nodes
        self._parents = self._read_parents()
        self._children = self._read_children()
        self.order = dict.fromkeys(self._walk())
        self.lost = len(nodes) - len(self.order)

    def above(self, name: str) -> Iterator[str]:
        """The node's ancestors, nearest first."""
        parent = self._parents.get(name)
        while parent is not None:
            yield parent
            parent = self._parents[parent]

    def path_to(self, name: str) -> set[str]:
        return {name, *self.above(name)} if name else set()

    def leaves(self) -> Iterator[str]:
        return (name for name in self.order if not self._children[name])

    def _read_parents(self) -> dict[str, str | None]:
        listed = {child: name for name in self.nodes for child in self._listed(name)}
        parents: dict[str, str | None] = {}
        for name, node in self.nodes.items():
            parent = node.get("parent", "") if isinstance(node, dict) else ""
            is_root = parent is None
            known = isinstance(parent, str) and parent in self.nodes
            parents[name] = None if is_root else parent if known else listed.get(name)
        return parents

    def _read_children(self) -> dict[str, list[str]]:
        children: dict[str, list[str]] = {name: [] for name in self.nodes}
        for name in self.nodes:
            own = [child for child in self._listed(name) if self._parents.get(child) == name]
            children[name] = list(dict.fromkeys(own))
        for name, parent in self._parents.items():
            if parent is not None and name not in children[parent]:
                children[parent].append(name)
        return children

    def _listed(self, name: str) -> list[str]:
        node = self.nodes[name]
        found = node.get("children") if isinstance(node, dict) else None
        if not isinstance(found, list):
            return []
        return [child for child in found if isinstance(child, str) and child in self.nodes]

    def _walk(self) -> Iterator[str]:
        """Without recursion: a long talk is a deep tree."""
        stack = [name for name in reversed(list(self.nodes)) if self._parents[name] is None]
        while stack:
            name = stack.pop()
            yield name
            stack.extend(reversed(self._children[name]))


def branch(
    tree: Tree, current: Any, time: Callable[[str], datetime | None], report: Report
) -> set[str]:
    """What lies between the root and the current message; without one, the newest."""
    if isinstance(current, str) and current in tree.order:
        return tree.path_to(current)
    leaves = list(tree.leaves())
    # The last of those with the same time.
    newest = max(reversed(leaves), key=lambda name: _comparable(time(name)), default="")
    if len(leaves) > 1:
        report.adjusted["conversations without a current branch: the newest was taken"] += 1
    return tree.path_to(newest)


def threaded(
    tree: Tree, on_branch: set[str], read: Callable[[str], ParsedMessage | None], report: Report
) -> list[ParsedMessage]:
    """The messages in the tree's order, each behind the nearest one above it that says something.

    `read` gives what a node says, or None.
    """
    if tree.lost:
        report.skipped["messages that hang on nothing"] += tree.lost
    said: dict[str, ParsedMessage] = {}
    for name in tree.order:
        message = read(name)
        if message is not None:
            above = next((one for one in tree.above(name) if one in said), None)
            said[name] = replace(
                message,
                client_id=name,
                parent=above,
                on_branch=name in on_branch,
            )
    return list(said.values())


def _comparable(moment: datetime | None) -> datetime:
    if moment is None:
        return _NEVER
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
