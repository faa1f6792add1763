"""Pictures of documents, described by a language model that sees, where the operator named one.

The process that reads a document hands each picture out (conversion/sight.py); here it is decided
whether the model is asked, and what it said is kept. It is data from outside like the rest of the
document, and goes through all that the rest goes through.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDay
from django.utils import timezone
from pydantic import BaseModel, ConfigDict

from agents.audit import acting
from agents.gate import MemoryOff
from agents.models import User
from knowledge import marks
from knowledge.conversion.images import MOST
from knowledge.conversion.sight import Seen
from knowledge.ingest import claims
from knowledge.models import Document, PictureReading
from memory import llm
from memory.figures import Tokens
from memory.sensitive import redact
from memory.text.characters import without_hidden

if TYPE_CHECKING:
    from knowledge.ingest.claims import Claim

PROMPT = "picture-v1"
QUESTION = "The picture:"
# Characters. A page of small print has about 6,000.
MOST_WORDS, MOST_DESCRIPTION = 12_000, 2_000
# Failures in a row after which a document's further pictures are not asked about.
PATIENCE = 3
# Seconds that an endpoint may ask to wait at its rate limit, and where it doesn't say.
LONGEST_WAIT, USUAL_WAIT = 60.0, 20.0
TOO_MANY = f"at most {MOST} are asked about"
TOO_LONG = "describing them took too long"


class PictureReply(BaseModel):
    """What the model is asked to hand in. Too long a text is cut, not refused: asking again would
    cost as much again."""

    model_config = ConfigDict(extra="forbid")

    words: str
    description: str


class Describer:
    """Of one reading of one document. Costs are bounded by the number of pictures, their size, the
    tokens of an answer, and the time that a reading may take."""

    def __init__(self, claim: "Claim", route: llm.Route) -> None:
        self.claim, self.route = claim, route
        self.until = monotonic() + settings.KNOWLEDGE_SECONDS
        self.asked = self.failed = 0
        self.error = ""

    def __call__(self, picture: bytes) -> Seen:
        """Raises Taken, MemoryOff."""
        row = self._row(hashlib.sha256(picture).hexdigest())
        if row.answered_at is not None:
            return Seen(row.words, row.description)
        if why_not := self._enough():
            return Seen(why_not=why_not)
        self.asked += 1
        try:
            return self._described(row, picture)
        except llm.LlmError as error:
            self.failed += 1
            self.error = str(error)
            self._note(row, error.usage, error=self.error)
            return Seen(why_not=self.error)

    def _row(self, digest: str) -> PictureReading:
        """Of an earlier reading, or a new one that is not stored yet."""
        key = {
            "owner_id": self.claim.document.owner_id,
            "document_id": self.claim.document.pk,
            "digest": digest,
            "model": self.route.model[:120],
            "prompt_version": PROMPT,
        }
        return PictureReading.objects.filter(**key).first() or PictureReading(**key)

    def _enough(self) -> str:
        if self.failed >= PATIENCE:
            return self.error
        if self.asked >= MOST:
            return TOO_MANY
        return TOO_LONG if monotonic() > self.until else ""

    def _described(self, row: PictureReading, picture: bytes) -> Seen:
        try:
            done = self._ask(picture)
        except llm.LlmRateLimited as limit:
            wait = USUAL_WAIT if limit.retry_after is None else limit.retry_after
            if wait > LONGEST_WAIT or monotonic() + wait > self.until:
                raise
            self._note(row, limit.usage, error=str(limit))
            self._hold(wait)
            sleep(wait)
            done = self._ask(picture)
        self.failed = 0
        seen = Seen(
            cleaned(done.reply.words, MOST_WORDS), cleaned(done.reply.description, MOST_DESCRIPTION)
        )
        self._note(row, done.usage, seen=seen)
        return seen

    def _ask(self, picture: bytes) -> llm.Completion[PictureReply]:
        self._hold(settings.LLM_TIMEOUT_SECONDS)
        with self.claim.writing():
            pass  # nothing leaves the house of an owner who has switched memory off meanwhile
        return llm.complete(self.route, prompt(), QUESTION, PictureReply, picture=picture)

    def _hold(self, seconds: float) -> None:
        """Keeps the claim while nobody can renew it. Raises Taken."""
        until = timezone.now() + claims.LEASE + timedelta(seconds=seconds)
        if self.claim.rows().update(busy_until=until) != 1:
            raise claims.Taken

    def _note(
        self, row: PictureReading, usage: llm.Usage, *, seen: Seen | None = None, error: str = ""
    ) -> None:
        """What it cost, in any case as long as the document is there; the answer only while memory
        is on. Raises Taken, MemoryOff."""
        now = timezone.now()
        asked: dict[str, str | datetime] = {"asked_at": now, "error": error[:300]}
        answer: dict[str, str | datetime] = {}
        if seen is not None:
            answer = {"answered_at": now, "words": seen.words, "description": seen.description}
        try:
            with self.claim.writing():
                _add(row, usage, asked | answer)
        except MemoryOff:
            with transaction.atomic(), acting(claims.ACTOR, "document read"):
                if self.claim.holds():
                    _add(row, usage, asked)
            raise


def _add(row: PictureReading, usage: llm.Usage, values: dict[str, str | datetime]) -> None:
    if row._state.adding:
        row.save(force_insert=True)
    PictureReading.objects.filter(pk=row.pk, owner=row.owner_id).update(
        llm_calls=F("llm_calls") + usage.calls,
        input_tokens=F("input_tokens") + usage.input_tokens,
        output_tokens=F("output_tokens") + usage.output_tokens,
        **values,
    )


@cache
def prompt() -> str:
    path = Path(__file__).parent / "prompts" / f"{PROMPT}.md"
    return path.read_text(encoding="utf-8").strip()


def describer(claim: "Claim") -> Describer | None:
    """None where no model for pictures is set up: none leaves the house then."""
    route = llm.configured(llm.VISION)
    return Describer(claim, route) if route else None


@dataclass(frozen=True, slots=True)
class Cost:
    """What one model said of a document's pictures, over all readings. `unanswered` were asked
    about in vain."""

    model: str
    described: int
    unanswered: int
    calls: int
    input: int
    output: int


def costs(document: Document) -> list[Cost]:
    rows = PictureReading.objects.filter(owner=document.owner_id, document=document).order_by()
    answered = Q(answered_at__isnull=False)
    groups = rows.values_list("model").annotate(
        described=Count("pk", answered),
        unanswered=Count("pk", ~answered),
        calls=Sum("llm_calls"),
        input=Sum("input_tokens"),
        output=Sum("output_tokens"),
    )
    return [Cost(*values) for values in groups.order_by("model")]


def tokens_by_day(owner: User, since: datetime) -> list[Tokens]:
    """Of pictures, by the day on which each was asked about last; `runs` counts pictures."""
    groups = (
        PictureReading.objects.filter(owner=owner, asked_at__gte=since, llm_calls__gt=0)
        .order_by()
        .annotate(day=TruncDay("asked_at"))
        .values_list("day")
        .annotate(Sum("input_tokens"), Sum("output_tokens"), Count("pk"))
        .order_by("day")
    )
    return [Tokens(timezone.localdate(day), *sums) for day, *sums in groups]


def cleaned(said: str, most: int) -> str:
    """As one may show it: no control or hidden characters, no secrets, not too long."""
    text = marks.foreign(said[: 2 * most]).replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(without_hidden(line).rstrip() for line in text.split("\n")).strip()
    return text if len(text := redact(text)) <= most else f"{text[: most - 1]}…"
