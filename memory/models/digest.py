"""The daily mail that says how much waits for review."""

from uuid import uuid4

from django.db import models

from agents.models import User
from agents.triggers import audited, fixed


class ReviewDigest(models.Model):
    """Where an owner wants it. Without a row, or without an address, none is sent."""

    owner = models.OneToOneField(
        User, on_delete=models.PROTECT, primary_key=True, related_name="review_digest"
    )
    address = models.EmailField(blank=True)
    # In the links that end it: a new one with every address, so that old mails end nothing.
    key = models.UUIDField(default=uuid4)

    class Meta:
        triggers = [
            fixed("owner", name="digest_fixed", message="A setting stays with its owner."),
            audited(),
        ]

    def __str__(self) -> str:
        return f"digest of {self.owner_id}"


class DigestMail(models.Model):
    """The state of an owner's mails; unaudited, for it changes every day."""

    owner = models.OneToOneField(User, on_delete=models.PROTECT, primary_key=True, related_name="+")
    # The owner's day that was the last one to be taken up, by a worker that sends one mail for it.
    day = models.DateField()
    sent_at = models.DateTimeField(null=True)
    # How the last attempt failed; blank where it did not.
    error = models.CharField(max_length=300, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return f"digest mail of {self.owner_id}"
