"""The stage that writes profiles anew where the facts have changed.

No transaction is open while the model thinks; what a sentence cites is looked at again in the one
that writes.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db import transaction

from agents.access import agents_of
from agents.audit import POLICY, Actor
from agents.gate import require_on
from agents.languages import instruction
from agents.models import User
from memory import llm
from memory.consolidation.journal import Journal, journal_of
from memory.consolidation.values import Change
from memory.extraction.lease import leased, renew
from memory.extraction.prompts import prompt
from memory.extraction.windows import escape, fenced, new_nonce
from memory.lifecycle import NotAllowed
from memory.lifecycle.rows import transition
from memory.models import ConsolidationChange, Profile, ProfileCitation, ProfileSentence
from memory.profile.material import Material, material_for, may_stand, readable
from memory.profile.schema import ProfileReply, Sentence

STAGE = "profile"
NOTHING, WRITE, CLEAR = "nothing", "write", "clear"
PROMPT = "profile-v1"
# Profiles written in one run; the agents whose profile is oldest come first.
PER_RUN = 10
NO_MODEL = "No language model is configured, so profiles are plain lists of facts."
CHANGED = "The facts that an assistant may read have changed, so its profile is written anew."
GONE = "No fact is left for this profile."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """Raises MemoryOff and LeaseTaken before anything is asked, LlmError when the model fails: what
    was done before it stands.

    A dry run asks no model: it lists the profiles that would be written.
    """
    with transaction.atomic():
        require_on(owner)
    if not any(map(llm.configured, (llm.GENERAL, llm.PRIVATE))):
        return [Change(STAGE, NOTHING, NO_MODEL, reversible=False)]
    due = list(_due(owner, now))[:PER_RUN]
    if dry_run:
        return [_change(material) for material in due]
    journal = journal_of(owner, now)
    before = len(journal.noted)
    for material in due:
        _write(journal, material)
    return journal.noted[before:]


def _due(owner: User, now: datetime) -> Iterator[Material]:
    known = {profile.agent_id: profile for profile in Profile.objects.filter(owner=owner)}
    agents = list(agents_of(owner).filter(heir__isnull=True).select_related("owner"))
    agents.sort(key=lambda a: (a.pk in known, a.pk in known and known[a.pk].written_at, a.pk))
    for agent in agents:
        material = material_for(agent, now)
        profile = known.get(agent.pk)
        changed = profile is None or profile.digest != material.digest
        if changed if material.facts else profile is not None:
            yield material


def _change(material: Material) -> Change:
    written = bool(material.facts)
    return Change(
        STAGE,
        WRITE if written else CLEAR,
        CHANGED if written else GONE,
        objects=(material.agent.pk,),
        sources=tuple(fact.pk for fact in material.facts.values()),
        reversible=False,
        detail={"facts": len(material.facts)},
    )


def _write(journal: Journal, material: Material) -> None:
    with leased(journal.owner) as lease:
        sentences: list[Sentence] = []
        route = material.route
        if material.facts and route is not None:
            renew(lease)
            ask = render(material)
            told = prompt(PROMPT) + instruction(journal.owner)
            reply = journal.count(lambda: llm.complete(route, told, ask, ProfileReply))
            sentences = reply.sentences
        with journal.step(CHANGED), transition(journal.owner, POLICY, CHANGED):
            _store(journal, material, [s for s in sentences if may_stand(s, material.facts)])
            journal.note(_change(material))


def render(material: Material) -> str:
    nonce = new_nonce()
    return fenced("facts", nonce, (
        f'<fact-{nonce} n="{n}" kind="{fact.kind}">{escape(fact.statement)}</fact-{nonce}>'
        for n, fact in material.facts.items()
    ))  # fmt: skip


def _store(journal: Journal, material: Material, sentences: Iterable[Sentence]) -> None:
    """In the place of the old one. What was archived meanwhile takes its sentences along."""
    Profile.objects.filter(owner=journal.owner, agent=material.agent).delete()
    if not material.facts:
        return
    profile = Profile.objects.create(
        owner=journal.owner,
        agent=material.agent,
        digest=material.digest,
        prompt_version=PROMPT,
        written_by=material.route.model[:120] if material.route else "",
        written_at=journal.now,
    )
    ids = [fact.pk for fact in material.facts.values()]
    told = readable(material.agent, journal.now).filter(pk__in=ids)
    still = set(told.values_list("pk", flat=True))
    rows, citations = [], []
    for place, sentence in enumerate(sentences, start=1):
        cited = {material.facts[handle].pk for handle in sentence.facts}
        if cited <= still:
            row = ProfileSentence(
                owner=journal.owner, profile=profile, place=place, text=sentence.text
            )
            rows.append(row)
            citations += [
                ProfileCitation(owner=journal.owner, sentence=row, fact_id=pk)
                for pk in sorted(cited)
            ]
    ProfileSentence.objects.bulk_create(rows)
    ProfileCitation.objects.bulk_create(citations)


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """Raises NotAllowed: a profile is derived, so there is nothing to take back."""
    raise NotAllowed("A profile follows the facts: change those, and it is written anew.")
