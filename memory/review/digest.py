"""The daily mail: how much waits for its owner's decision, and a link. It holds no memory text, for
mail lies about on other people's machines.

Due by the database, in the owner's morning. A worker takes a day up before it sends, so that two
never send twice; one that is killed in between has used up that day's mail.
"""

import smtplib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, Signer
from django.db.models import F, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from agents.addresses import absolute
from agents.audit import Actor, acting
from agents.models import User
from memory.consolidation import reconfirm
from memory.models import DigestMail, ReviewDigest
from memory.purge import requests
from memory.review import queue

MORNING = 8  # o'clock, on the owner's clock
ATTEMPTS = 5  # for one day's mail
DAY = timedelta(days=1)
STOPPED = Actor("link in a digest mail")


@dataclass(frozen=True, slots=True)
class Waiting:
    candidates: int
    reconfirm: int
    requests: int
    oldest: datetime | None

    @property
    def total(self) -> int:
        return self.candidates + self.reconfirm + self.requests


def what_waits(owner: User, now: datetime) -> Waiting:
    asked = reconfirm.unanswered(owner=owner, now=now)
    asked_to_forget = requests.waiting(owner)
    return Waiting(
        candidates=queue.count(owner, now),
        reconfirm=asked.order_by()[: queue.COUNTED].count(),
        requests=asked_to_forget.order_by()[: queue.COUNTED].count(),
        oldest=queue.oldest_waiting(owner, now),
    )


def set_address(*, owner: User, address: str, actor: Actor) -> None:
    """An empty one ends the mails. Every other one gets links of its own."""
    with acting(actor, "set in the settings"):
        ReviewDigest.objects.update_or_create(
            owner=owner, defaults={"address": address, "key": uuid4()}
        )


def stop_link(digest: ReviewDigest) -> str:
    return absolute(reverse("digest-stop", args=[_signer().sign(f"{digest.pk}.{digest.key}")]))


def digest_of(token: str) -> ReviewDigest | None:
    """Whose mails the link ends; None where it was forged or belongs to an address of before."""
    try:
        owner, key = (UUID(part) for part in _signer().unsign(token).split("."))
    except (BadSignature, ValueError):
        return None
    return ReviewDigest.objects.filter(owner=owner, key=key).first()


def stop(digest: ReviewDigest) -> None:
    with acting(STOPPED, "unsubscribed"):
        digest.address = ""
        digest.save(update_fields=["address"])


def send_due(now: datetime) -> int:
    """The number of mails that went out."""
    if not settings.MAIL_ON:
        return 0
    wanted = ReviewDigest.objects.exclude(address="").select_related("owner__settings")
    return sum(_send_if_due(digest, now) for digest in wanted.order_by("pk"))


def _send_if_due(digest: ReviewDigest, now: datetime) -> bool:
    local = now.astimezone(ZoneInfo(digest.owner.settings.time_zone))
    if local.hour < MORNING or not _claim(digest.owner, local.date()):
        return False
    waiting = what_waits(digest.owner, now)
    if not waiting.total:
        return False
    row = DigestMail.objects.filter(owner=digest.owner)
    try:
        compose(digest, waiting).send()
    except (smtplib.SMTPException, OSError) as error:
        # Its kind only: what a mail server says may name people.
        row.update(day=F("day") - DAY, error=type(error).__qualname__, attempts=F("attempts") + 1)
        return False
    row.update(sent_at=now, error="", attempts=0)
    return True


def _claim(owner: User, today: date) -> bool:
    """This worker alone sends the mail of that day."""
    _, is_new = DigestMail.objects.get_or_create(owner=owner, defaults={"day": today})
    if is_new:
        return True
    older = DigestMail.objects.filter(owner=owner)
    if older.filter(day__lt=today - DAY).update(day=today, attempts=0):
        return True
    yesterdays = older.filter(Q(error="") | Q(attempts__lt=ATTEMPTS), day=today - DAY)
    return bool(yesterdays.update(day=today))


def compose(digest: ReviewDigest, waiting: Waiting) -> EmailMessage:
    stop_at = stop_link(digest)
    context = {
        "waiting": waiting,
        "days": (timezone.now() - waiting.oldest).days if waiting.oldest else 0,
        "capped": queue.COUNTED,
        "review": absolute(reverse("review")),
        "reconfirm": absolute(reverse("reconfirm")),
        "stop": stop_at,
    }
    things = "thing waits" if waiting.total == 1 else "things wait"
    return EmailMessage(
        subject=f"{waiting.total} {things} for your review",
        body=render_to_string("memory/digest.txt", context),
        to=[digest.address],
        headers={
            "List-Unsubscribe": f"<{stop_at}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )


def _signer() -> Signer:
    return Signer(salt="review digest")
