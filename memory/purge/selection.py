"""What a person wants forgotten or purged: rules that narrow each other. No rule is never "all"."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from agents.models import Agent, ApiKey, User
from conversations.models import Conversation, Import, Message, Sketch
from memory.models import DroppedCandidate, Entity, Evidence, ExtractionRun, Fact
from memory.models.case import Case
from memory.models.rule import Rule
from memory.purge import further
from memory.scope import facts_of, facts_readable_by
from memory.text.words import UNSPACED
from memory.vocabulary import ArchivedReason

SHORTEST = 3  # characters of a text to match
_PARTS = ("goal", "context", "approach", "outcome", "lessons")


class BadSelection(ValueError):
    """Nothing was chosen, or what was named is not there. The message is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Made by `chosen`, which refuses an empty one. `since` and `until` are half-open and about
    when something was said."""

    owner: User
    facts: tuple[UUID, ...] = ()
    conversation: Conversation | None = None
    agent: Agent | None = None
    source: str = ""
    run: ExtractionRun | None = None
    imported: Import | None = None
    client: ApiKey | None = None
    since: datetime | None = None
    until: datetime | None = None
    match: str = ""
    everything: bool = False
    # The key of one agent asks: narrows nothing by itself, and what is chosen to what it can reach.
    within: Agent | None = None

    @property
    def is_empty(self) -> bool:
        rules = (self.facts, self.conversation, self.agent, self.source, self.run, self.imported,
                 self.client, self.since, self.until, self.match, self.everything)  # fmt: skip
        return not any(rules)

    @property
    def takes_whole_conversations(self) -> bool:
        narrowed = (self.facts, self.run, self.since, self.until, self.match)
        return not self.is_empty and not any(narrowed)

    def chosen_facts(self) -> QuerySet[Fact]:
        facts = facts_of(self.owner).exclude(archived_reason=ArchivedReason.PURGED)
        if self.within is not None:
            facts = reached_by(self.within, facts)
        if self.facts:
            facts = facts.filter(pk__in=self.facts)
        if self.conversation is not None:
            facts = facts.filter(_learned_in(self.conversation))
        if self.run is not None:
            facts = facts.filter(run=self.run)
        if self.since is not None:
            facts = facts.filter(observed_at__gte=self.since)
        if self.until is not None:
            facts = facts.filter(observed_at__lt=self.until)
        if self.match:
            pattern = _pattern(self.match)
            facts = facts.filter(
                Q(statement__iregex=pattern) | Q(withheld_detail__iregex=pattern)
            )  # fmt: skip
        return facts.filter(self._whence(own="", through="conversation__"))

    def chosen_messages(self) -> QuerySet[Message]:
        """Those that are chosen themselves; what the chosen facts quote is found later."""
        messages = Message.objects.filter(owner=self.owner).exclude(content=Message.PURGED)
        if self.is_empty or self.facts or self.run is not None:
            return messages.none()
        if self.conversation is not None:
            messages = messages.filter(conversation=self.conversation)
        if self.since is not None:
            messages = messages.filter(sent_at__gte=self.since)
        if self.until is not None:
            messages = messages.filter(sent_at__lt=self.until)
        if self.match:
            pattern = _pattern(self.match)
            messages = messages.filter(Q(content__iregex=pattern) | Q(speaker__iregex=pattern))
        return messages.filter(self._whence(own=None, through="conversation__"))

    def chosen_conversations(self) -> QuerySet[Conversation]:
        """Those that keep no title and nothing else of their own."""
        found = Conversation.objects.filter(owner=self.owner)
        if self.takes_whole_conversations:
            if self.conversation is not None:
                found = found.filter(pk=self.conversation.pk)
            return found.filter(self._whence(own=None, through=""))
        if self.match and not (self.facts or self.run or self.since or self.until):
            if self.conversation is not None:
                found = found.filter(pk=self.conversation.pk)
            found = found.filter(self._whence(own=None, through=""))
            return found.filter(title__iregex=_pattern(self.match))
        return found.none()

    def chosen_others(self) -> set[UUID]:
        """Dropped candidates, notes, names, cases and rules that hold the text, whatever they hang
        on."""
        dropped = DroppedCandidate.objects.filter(owner=self.owner)
        dropped = dropped.exclude(statement=Fact.PURGED, quote="", detail="")
        if self.run is not None:
            return set(dropped.filter(run=self.run).values_list("pk", flat=True))
        if self.everything:
            names = Entity.objects.filter(owner=self.owner)
            cases = Case.objects.filter(owner=self.owner)
            notes = Sketch.objects.filter(owner=self.owner)
            rules = Rule.objects.filter(owner=self.owner)
            own = (_ids(dropped), _ids(names), _ids(cases), _ids(notes), _ids(rules))
            return {*chain(*own), *further.chosen(self.owner, self.wish)}
        if self.takes_whole_conversations:
            whole = self.chosen_conversations()
            notes = Sketch.objects.filter(owner=self.owner, conversation__in=whole)
            return {*_ids(notes), *self._brought(), *further.chosen(self.owner, self.wish)}
        if not self.match or self.since or self.until:
            return set()
        pattern = _pattern(self.match)
        whence = self._whence(own=None, through="run__conversation__")
        if self.conversation is not None:
            whence &= Q(run__conversation=self.conversation)
        dropped = dropped.filter(whence).filter(
            Q(statement__iregex=pattern) | Q(quote__iregex=pattern) | Q(detail__iregex=pattern)
        )
        named = self._named(pattern) if self._is_match_alone else set()
        beyond = further.chosen(self.owner, self.wish)
        return {*_ids(dropped), *_ids(self._noted(pattern)), *named, *beyond}

    @property
    def pattern(self) -> str:
        """For Postgres; empty where no words are asked for."""
        return _pattern(self.match) if self.match else ""

    @property
    def wish(self) -> further.Wish:
        """What the rules mean beyond the memory: rows know who brought them and what they say, but
        no conversation, and nobody said them at a time."""
        narrowed = (self.facts, self.conversation, self.agent, self.source, self.run,
                    self.imported, self.since, self.until)  # fmt: skip
        if any(narrowed):
            return further.Wish()
        return further.Wish(everything=self.everything, client=self.client, pattern=self.pattern)

    def _brought(self) -> Iterable[UUID]:
        """Rules that came with the import, where nothing narrows it."""
        narrowed = (self.conversation, self.agent, self.source, self.client)
        if self.imported is None or any(narrowed):
            return ()
        return _ids(Rule.objects.filter(owner=self.owner, imported_by=self.imported))

    def _noted(self, pattern: str) -> QuerySet[Sketch]:
        notes = Sketch.objects.filter(self._whence(own=None, through="conversation__"))
        if self.conversation is not None:
            notes = notes.filter(conversation=self.conversation)
        return notes.filter(Q(text__iregex=pattern) | Q(key__iregex=pattern), owner=self.owner)

    @property
    def _is_match_alone(self) -> bool:
        others = (self.facts, self.conversation, self.agent, self.source, self.run, self.imported,
                  self.client, self.since, self.until)  # fmt: skip
        return not any(others)

    def _named(self, pattern: str) -> set[UUID]:
        names = Entity.objects.filter(owner=self.owner).filter(
            Q(name__iregex=pattern) | Q(aliases__name__iregex=pattern)
        )
        told = Q()
        for part in _PARTS:
            told |= Q(**{f"{part}__iregex": pattern})
        rules = Rule.objects.filter(owner=self.owner, text__iregex=pattern)
        cases = Case.objects.filter(told, owner=self.owner)
        return {*_ids(names), *_ids(cases), *_ids(rules)}

    def _whence(self, *, own: str | None, through: str) -> Q:
        """Rules about where something came from. `own`: the row has such columns itself too."""
        rule = Q()
        for name, value in (
            ("agent", self.agent),
            ("imported_by", self.imported),
            ("client", self.client),
        ):
            if value is not None:
                by = Q(**{f"{through}{name}": value})
                rule &= by if own is None else by | Q(**{f"{own}{name}": value})
        return rule & Q(**{f"{through}source": self.source}) if self.source else rule


def chosen(**rules: object) -> Selection:
    """Raises BadSelection when no rule is given, or rules that don't go together."""
    selection = Selection(**rules)  # type: ignore[arg-type]
    if selection.is_empty:
        raise BadSelection("Say what: nothing was chosen.")
    alone = {"facts": bool(selection.facts), "everything": selection.everything}
    given = [name for name, value in rules.items() if value and name not in {"owner", "within"}]
    for name, said in alone.items():
        if said and len(given) > 1:
            raise BadSelection(f"{name}: goes with no other rule.")
    if selection.since and selection.until and selection.since >= selection.until:
        raise BadSelection("The time range is empty: since is not before until.")
    if selection.match and len(selection.match.strip()) < SHORTEST:
        raise BadSelection(f"The text to match has fewer than {SHORTEST} characters.")
    _refuse_strangers(selection)
    return selection


def reached_by(agent: Agent, facts: QuerySet[Fact]) -> QuerySet[Fact]:
    """Of what the agent reads. A former wording of what was moved to where it doesn't read stays
    too, because a purge takes equal texts along."""
    readable = facts_readable_by(agent).values("pk")
    away = facts_of(agent.owner).exclude(pk__in=readable)
    return facts.filter(pk__in=readable).exclude(superseded_by__in=away.values("pk"))


def _refuse_strangers(selection: Selection) -> None:
    if not selection.facts:
        return
    known = set(
        facts_of(selection.owner).filter(pk__in=selection.facts).values_list("pk", flat=True)
    )
    if missing := [str(pk) for pk in selection.facts if pk not in known]:
        raise BadSelection(f"There is no such fact: {missing[0]}.")


def _learned_in(conversation: Conversation) -> Q:
    """Born there, or resting on nothing else."""
    evidence = Evidence.objects.filter(fact=OuterRef("pk"))
    here = Exists(evidence.filter(message__conversation=conversation))
    elsewhere = Exists(evidence.exclude(message__conversation=conversation))
    return Q(conversation=conversation) | Q(here) & ~Q(elsewhere)


def _pattern(text: str) -> str:
    """For Postgres: the words in this order, whole ones where the script parts words, in any case,
    with any blanks between them and in either composition of accents."""
    forms = {unicodedata.normalize(form, text.strip()) for form in ("NFC", "NFD")} | {text.strip()}
    return "|".join(_one_pattern(form) for form in sorted(forms))


def _one_pattern(text: str) -> str:
    words = r"\s+".join(re.sub(r"(\W)", r"\\\1", word) for word in text.split())
    before = r"(?<!\w)" if _parts_words(text[0]) else ""
    after = r"(?!\w)" if _parts_words(text[-1]) else ""
    return f"{before}{words}{after}"


def _parts_words(char: str) -> bool:
    return char.isalnum() and re.match(f"[{UNSPACED}]", char) is None


def _ids(rows: QuerySet[Any]) -> QuerySet[Any, UUID]:
    return rows.values_list("pk", flat=True)
