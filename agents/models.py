"""People, their assistants, and the keys that assistants use."""

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar
from zoneinfo import available_timezones

from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.triggers import audited, fixed, kept, settings_follow


def new_id() -> uuid.UUID:
    """A time-ordered UUIDv7, made in Python so that it is known before the row is written."""
    return uuid7()


def validate_zone(value: str) -> None:
    if value not in available_timezones():
        raise ValidationError(f"{value!r} is not an IANA time zone such as Europe/Helsinki.")


class OwnerManager(UserManager["User"]):
    """Makes whole accounts, so that `manage.py createsuperuser` does too."""

    use_in_migrations = False

    def create_user(self, *args: Any, **fields: Any) -> "User":
        return self._furnished(super().create_user, *args, **fields)

    def create_superuser(self, *args: Any, **fields: Any) -> "User":
        return self._furnished(super().create_superuser, *args, **fields)

    def _furnished(self, create: Callable[..., "User"], *args: Any, **fields: Any) -> "User":
        from agents.accounts import furnish
        from agents.audit import acting, command

        with acting(command("createsuperuser"), "account created"):
            user = create(*args, **fields)
            furnish(user)
        return user


class User(AbstractUser):
    """An owner: the person whose memory it is."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    objects: ClassVar[OwnerManager] = OwnerManager()

    class Meta(AbstractUser.Meta):
        triggers = [settings_follow()]

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """The trail names its people. Raises ProtectedError."""
        raise models.ProtectedError(
            "An account is not deleted but closed, which purges its memory first: "
            f"manage.py close_account --owner {self.username}",
            {self},
        )


class OwnerSettings(models.Model):
    """What one owner chose. Every owner has a row from the moment the account exists."""

    owner = models.OneToOneField(
        User, on_delete=models.PROTECT, primary_key=True, related_name="settings"
    )
    # Null: never chose, so the server's mode decides.
    memory_enabled = models.BooleanField(null=True, blank=True, default=None)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_zone])
    cap_per_agent = models.PositiveIntegerField(null=True, blank=True)
    cap_global = models.PositiveIntegerField(null=True, blank=True)
    # Tokens of the memory block; null: the server's default.
    recall_budget = models.PositiveIntegerField(null=True, blank=True)
    # What conclusions and the profile are written in, an ISO 639 code; blank: as the facts are.
    language = models.CharField(max_length=3, blank=True, default="", db_default="")
    # How sure the observer must be of an event that becomes active by itself; null: none does.
    event_confidence = models.FloatField(null=True, blank=True, default=0.8, db_default=0.8)

    class Meta:
        verbose_name_plural = "owner settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(language__regex="^([a-z]{2,3})?$"), name="settings_language_is_a_code"
            ),
            models.CheckConstraint(
                condition=Q(recall_budget__isnull=True) | Q(recall_budget__range=(200, 8000)),
                name="settings_recall_budget",
            ),
            # Lower than policy's own bound would let in what the observer itself doubts.
            models.CheckConstraint(
                condition=Q(event_confidence__isnull=True) | Q(event_confidence__range=(0.8, 1)),
                name="settings_event_confidence",
            ),
        ]
        triggers = [
            kept("Settings go with their owner, who is never deleted."),
            fixed("owner", name="settings_fixed", message="Settings stay with their owner."),
            audited(),
        ]

    def __str__(self) -> str:
        return f"settings of {self.owner_id}"


class Agent(models.Model):
    """An assistant, workspace or project of an owner."""

    class Reads(models.TextChoices):
        OWN = "own", "Only its own facts"
        OWN_AND_GLOBAL = "own_and_global", "Its own facts and the global ones"
        ALL = "all", "Every fact of the owner"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="agents")
    slug = models.SlugField(max_length=64)
    name = models.CharField(max_length=120)
    reads = models.CharField(max_length=16, choices=Reads, default=Reads.OWN_AND_GLOBAL)
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Deleted: its conversations keep it, what is learned from them goes to the heir.
    retired_at = models.DateTimeField(null=True, blank=True)
    heir = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,  # composite with the owner, see the migration
    )

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "slug"], name="agent_slug_per_owner"),
            # Target of the composite foreign keys that keep every pointer within one owner.
            models.UniqueConstraint(fields=["owner", "id"], name="agent_owner_id"),
            models.UniqueConstraint(
                fields=["owner"], condition=Q(is_default=True), name="agent_one_default"
            ),
            models.CheckConstraint(
                condition=~Q(reads="all") | Q(is_default=True), name="agent_all_only_default"
            ),
            models.CheckConstraint(
                condition=Q(reads__in=["own", "own_and_global", "all"]), name="agent_reads_known"
            ),
            models.CheckConstraint(
                condition=Q(retired_at__isnull=True, heir__isnull=True)
                | Q(retired_at__isnull=False, heir__isnull=False, is_default=False),
                name="agent_retired_with_heir",
            ),
            models.CheckConstraint(condition=~Q(heir=F("id")), name="agent_heir_is_another"),
        ]
        triggers = [
            fixed("id", "owner", name="agent_fixed", message="An agent never changes its owner."),
            audited(),
        ]

    def __str__(self) -> str:
        return self.name

    def acting(self) -> "Agent":
        """Itself, or whoever stands for it since it was deleted."""
        agent = self
        while agent.heir is not None:
            agent = agent.heir
        return agent


class ApiKey(models.Model):
    """A client's bearer key. Only a digest is stored; the key itself is shown once."""

    class Scope(models.TextChoices):
        INGEST = "ingest"
        RECALL = "recall"
        SEARCH = "search"
        PROPOSE = "propose"
        REMEMBER = "remember"
        FORGET = "forget"
        REVIEW = "review"
        EXPORT = "export"
        PROXY = "proxy"
        ADMIN = "admin"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="api_keys")
    # The agent that the key speaks for; null: any agent of the owner, named in each request.
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="api_keys",
        db_constraint=False,  # composite with the owner, see the migration
    )
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope))
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="apikey_owner_id"),
        ]
        triggers = [
            kept("A key is never deleted, only revoked."),
            fixed(
                "id",
                "owner",
                "agent",
                "prefix",
                "digest",
                "scopes",
                "created_at",
                name="key_fixed",
                message="What a key may do is fixed; revoke it and make another.",
            ),
            audited(),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def is_live(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class SignInToken(models.Model):
    """A single-use link that signs its user in, as printed at start-up. Consumed by a POST."""

    digest = models.CharField(max_length=64, primary_key=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used_at__isnull=True) | Q(used_at__lte=F("expires_at")),
                name="signin_used_in_time",
            ),
        ]

    def __str__(self) -> str:
        return f"sign-in link of {self.user_id}"


class PasswordTries(models.Model):
    """How many passwords were tried for a name since a moment (tries.py).

    The table is unlogged: after a crash of the database everybody starts anew.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    # Seconds since 1970.
    since = models.BigIntegerField()
    tries = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "password tries"

    def __str__(self) -> str:
        return f"{self.tries} since {self.since}"


class AuditEvent(models.Model):
    """One change of one row: who, when, why, before and after. Append-only.

    `before` and `after` hold the columns that changed; a birth holds the whole row in `after`.
    Filled by a trigger (agents/triggers.py); the application's role may only read it.
    """

    class Action(models.TextChoices):
        INSERT = "insert"
        UPDATE = "update"
        DELETE = "delete"

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    # Ids, not foreign keys: the trail outlives what it speaks of.
    owner_id = models.UUIDField()
    table = models.CharField(max_length=63)
    row_id = models.CharField(max_length=64)
    action = models.CharField(max_length=8, choices=Action)
    # "person:<id>", "key:<id>", "policy", "command:<name>" …; "db:<role>" where nobody was named.
    actor = models.CharField(max_length=120)
    reason = models.CharField(max_length=300, blank=True)
    # The request, task or command in whose course it happened.
    context = models.CharField(max_length=120, blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            # The history of one row.
            models.Index(fields=["table", "row_id", "id"], name="audit_row"),
            # What happened to one owner's memory, newest first.
            models.Index(fields=["owner_id", "-id"], name="audit_owner"),
            # When facts changed their state: the dashboard counts back from it.
            models.Index(
                fields=["owner_id", "at"],
                condition=Q(table="memory_fact", after__has_key="state"),
                name="audit_fact_states",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.table} {self.row_id}"


class TextAccess(models.Model):
    """That somebody read an owner's memory in the admin: who, when, where, how many rows."""

    id = models.BigAutoField(primary_key=True)
    # Whose memory it is.
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    reader = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    # The table, and the row where it was a single one.
    table = models.CharField(max_length=63)
    row_id = models.CharField(max_length=64, blank=True)
    rows = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-id"]
        verbose_name = "reading of somebody's memory"
        verbose_name_plural = "readings of somebody's memory"
        permissions = [("read_others_memory", "Can read the memory of other owners")]
        indexes = [models.Index(fields=["owner", "-id"], name="text_access_owner")]
        triggers = [
            kept("That somebody read is never forgotten."),
            fixed(
                "id",
                "owner",
                "reader",
                "at",
                "table",
                "row_id",
                "rows",
                name="text_access_fixed",
                message="That somebody read is never changed.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reader_id} read {self.rows} of {self.table}"


class CallCount(models.Model):
    """How many calls of a kind a key made in a minute: one row that is counted on (limits.py).

    The table is unlogged: after a crash of the database everybody starts anew.
    """

    id = models.BigAutoField(primary_key=True)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    client = models.ForeignKey(
        ApiKey, on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    kind = models.CharField(max_length=8)
    # Since 1970.
    minute = models.BigIntegerField()
    calls = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "client", "kind"], name="callcount_key_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.calls} {self.kind} of {self.client_id}"


class StoredReply(models.Model):
    """What a call with an Idempotency-Key was answered, for a day (replies.py)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    client = models.ForeignKey(
        ApiKey, on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    # Keyed hashes of the client's word for the call and of the call itself.
    name_digest = models.CharField(max_length=64)
    call_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    # Null until the call is done.
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(default="", blank=True)
    # Not where it holds a secret, or where something of the owner's was purged meanwhile.
    kept = models.BooleanField(default=False)
    purged = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "stored replies"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "client", "name_digest"], name="storedreply_key_name"
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="storedreply_age")]

    def __str__(self) -> str:
        return f"reply {self.pk}"
