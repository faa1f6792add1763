"""The daily mail: to whom, when, once, without a word of memory, and how it ends."""

import smtplib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from agents.audit import person
from agents.models import AuditEvent
from config.errors import StartError
from config.mail import mail as mail_settings
from memory.models import DigestMail, ReviewDigest
from memory.review import digest
from tests.factories import MONDAY, FactFactory
from tests.memory.candidates import candidate
from tests.memory.pages import text

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees."
ADDRESS = "alice@example.org"
EIGHT = MONDAY.replace(hour=8)  # in UTC, which is Alice's zone


@pytest.fixture(autouse=True)
def mail_on(settings):
    settings.MAIL_ON = True
    settings.PUBLIC_URL = "https://memory.example.org"


@pytest.fixture
def wanted(alice, agent):
    candidate(agent, BEES, created_at=EIGHT - timedelta(days=4))
    digest.set_address(owner=alice, address=ADDRESS, actor=person(alice))
    return alice


def sent(at: datetime = EIGHT) -> list[mail.EmailMessage]:
    mail.outbox.clear()
    digest.send_due(at)
    return mail.outbox


def stop_path(message: mail.EmailMessage) -> str:
    link: str = message.extra_headers["List-Unsubscribe"].strip("<>")
    return link.removeprefix("https://memory.example.org")


def test_it_says_how_much_waits_and_not_what(wanted):
    (message,) = sent()
    assert message.to == [ADDRESS]
    assert message.subject == "1 thing waits for your review"
    assert "1 candidate for your memory waits" in message.body
    assert "https://memory.example.org/review/" in message.body
    assert "bees" not in str(message.message())
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_it_comes_once_a_day_in_the_owners_morning(wanted):
    wanted.settings.time_zone = "America/New_York"  # 8 o'clock there is 13:00 UTC
    wanted.settings.save()
    assert not sent(EIGHT)
    assert sent(EIGHT + timedelta(hours=5))
    assert not sent(EIGHT + timedelta(hours=6))
    assert sent(EIGHT + timedelta(days=1, hours=5))


def test_none_comes_while_nothing_waits_or_nobody_asked(alice, bob, agent, bobs_agent, settings):
    digest.set_address(owner=alice, address=ADDRESS, actor=person(alice))
    candidate(bobs_agent, BEES)
    assert not sent()
    candidate(agent, BEES)
    assert not sent(EIGHT + timedelta(hours=1))  # the next morning, not whenever
    settings.MAIL_ON = False
    assert not sent(EIGHT + timedelta(days=1))


def test_facts_to_confirm_again_are_counted(wanted):
    FactFactory.create(
        owner=wanted, state="active", observed_at=MONDAY - timedelta(days=400), decayed_at=MONDAY
    )
    (message,) = sent()
    assert message.subject == "2 things wait for your review"
    assert "still true?" in message.body


def test_a_mail_that_failed_is_tried_again_a_few_times(wanted, monkeypatch):
    def refuse(self: mail.EmailMessage, *args: object, **kwargs: object) -> int:
        raise smtplib.SMTPRecipientsRefused({ADDRESS: (550, b"no such user")})

    with monkeypatch.context() as broken:
        broken.setattr(mail.EmailMessage, "send", refuse)
        for _ in range(digest.ATTEMPTS + 2):
            assert digest.send_due(EIGHT) == 0
    row = DigestMail.objects.get(owner=wanted)
    assert (row.error, row.attempts) == ("SMTPRecipientsRefused", digest.ATTEMPTS)
    assert not sent()
    assert sent(EIGHT + timedelta(days=1))
    assert DigestMail.objects.get(owner=wanted).error == ""


def test_one_click_ends_it_without_signing_in_and_looking_does_not(wanted):
    path = stop_path(sent()[0])
    anybody = Client(enforce_csrf_checks=True)
    assert anybody.get(path).status_code == 200
    assert ReviewDigest.objects.get(owner=wanted).address == ADDRESS
    assert anybody.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not sent(EIGHT + timedelta(days=1))
    assert AuditEvent.objects.filter(actor="link in a digest mail").exists()
    assert anybody.post(path).status_code == 200


@pytest.mark.parametrize("forged", ["x", "x:y", "01900000-0000-7000-8000-000000000000.1:z"])
def test_a_forged_link_ends_nothing(client, wanted, forged):
    assert client.post(reverse("digest-stop", args=[forged])).status_code == 404
    assert sent()


def test_the_link_of_an_older_address_ends_nothing(client, wanted):
    path = stop_path(sent()[0])
    digest.set_address(owner=wanted, address="new@example.org", actor=person(wanted))
    assert client.post(path).status_code == 404
    assert sent(EIGHT + timedelta(days=1))[0].to == ["new@example.org"]


def test_the_owner_sets_the_address_and_takes_it_away(alices, alice, settings):
    assert alices.post(reverse("digest"), {"address": "nobody"}).status_code == 422
    assert alices.post(reverse("digest"), {"address": ADDRESS}).status_code == 302
    assert ADDRESS in text(alices, "digest")
    assert alices.post(reverse("digest"), {"address": ""}).status_code == 302
    assert ReviewDigest.objects.get(owner=alice).address == ""
    settings.MAIL_ON = False
    assert "EMAIL_URL" in text(alices, "digest")


def test_the_server_says_what_is_wrong_with_its_mail_address():
    good = mail_settings("smtp+tls://me:secret@mail.example.org:587")
    assert good["EMAIL_USE_TLS"]
    assert (good["EMAIL_HOST"], good["EMAIL_PORT"]) == ("mail.example.org", 587)
    assert "dummy" in mail_settings("")["EMAIL_BACKEND"]
    for bad in ("mail.example.org", "http://mail.example.org", "smtp://", "smtp://host:many"):
        with pytest.raises(StartError, match="EMAIL_URL"):
            mail_settings(bad)
