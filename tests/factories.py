"""Rows for tests. Name the owner, the agent or the conversation; the rest follows from it.

`UserFactory.create(…)` is what the type checker understands; `UserFactory(…)` is the same.
"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.db.models import Model
from django.utils import timezone
from factory.declarations import LazyAttribute, SelfAttribute, Sequence, SubFactory
from factory.django import DjangoModelFactory
from factory.helpers import post_generation

from agents import keys
from agents.audit import acting, person
from agents.models import Agent, ApiKey, OwnerSettings, User
from conversations.models import Conversation, Message
from memory.models import Case, CaseSource, Evidence, Fact
from memory.text import text_hash
from memory.vocabulary import ArchivedReason, Kind, Origin, State

if TYPE_CHECKING:

    class IssuedKey(ApiKey):
        """What ApiKeyFactory makes: a key that remembers its plaintext for one test."""

        plaintext: str

        class Meta:
            proxy = True
else:
    IssuedKey = ApiKey

Row = TypeVar("Row", bound=Model)

# A Monday morning; tests that need an age count from here.
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class UserFactory(DjangoModelFactory[User]):
    """An owner with a row of settings. No password: sign in with `client.force_login`."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = Sequence(lambda n: f"owner{n}")
    password = "!"

    @post_generation  # type: ignore[untyped-decorator]
    def settings(user: User, create: bool, extracted: Any, **values: Any) -> None:
        """`settings__memory_enabled=False` and the like."""
        OwnerSettings.objects.update_or_create(owner=user, defaults=values)


class _Owned(DjangoModelFactory[Row]):
    """Takes the owner from what the row hangs on, where the test names that and no owner."""

    class Meta:
        abstract = True

    @classmethod
    def _generate(cls, strategy: Any, params: dict[str, Any]) -> Any:
        for name in ("conversation", "agent"):
            if "owner" not in params and params.get(name) is not None:
                params["owner"] = params[name].owner
        return super()._generate(strategy, params)


class AgentFactory(_Owned[Agent]):
    class Meta:
        model = Agent

    owner = SubFactory(UserFactory)
    slug = Sequence(lambda n: f"agent-{n}")
    name = LazyAttribute(lambda agent: agent.slug.replace("-", " ").title())


class ApiKeyFactory(_Owned[IssuedKey]):
    """A real key, which may do what an assistant's key usually may."""

    class Meta:
        model = ApiKey

    owner = SubFactory(UserFactory)
    agent = None
    name = "a test's key"
    scopes = ("ingest", "recall", "search", "propose")

    @classmethod
    def _create(cls, model_class: type[ApiKey], *args: Any, **values: Any) -> IssuedKey:
        key, plaintext = keys.issue(**values, actor=person(values["owner"]))
        issued = cast(IssuedKey, key)
        issued.plaintext = plaintext
        return issued


class ConversationFactory(_Owned[Conversation]):
    class Meta:
        model = Conversation

    owner = SubFactory(UserFactory)
    agent = SubFactory(AgentFactory, owner=SelfAttribute("..owner"))
    source = "api"
    external_id = Sequence(lambda n: f"conversation-{n}")
    title = Sequence(lambda n: f"Conversation {n}")


class MessageFactory(_Owned[Message]):
    """Each takes the next seq of its conversation, whose marks it moves along."""

    class Meta:
        model = Message

    conversation = SubFactory(ConversationFactory)
    owner = SelfAttribute("conversation.owner")
    role = Message.Role.USER
    from_owner = LazyAttribute(lambda message: message.role == Message.Role.USER)
    content = Sequence(lambda n: f"I have {n} bicycles.")

    @classmethod
    def _create(cls, model_class: type[Message], *args: Any, **values: Any) -> Message:
        conversation = values["conversation"]
        conversation.refresh_from_db(fields=["last_seq"])
        seq = values.setdefault("seq", conversation.last_seq + 1)
        values.setdefault("client_id", f"m{seq}")
        values.setdefault("sent_at", MONDAY + timedelta(minutes=seq))
        message: Message = super()._create(model_class, *args, **values)
        conversation.last_seq = max(seq, conversation.last_seq)
        conversation.first_message_at = conversation.first_message_at or message.sent_at
        conversation.last_message_at = message.sent_at
        conversation.save(update_fields=["last_seq", "first_message_at", "last_message_at"])
        return message


class FactFactory(_Owned[Fact]):
    """A fact in any state, brought there by steps that the database allows.

    Pending unless `state` says otherwise; global unless `agent` is given. `message` makes it cite
    that message, with `quote` or else the whole of it.
    """

    class Meta:
        model = Fact
        skip_postgeneration_save = True

    owner = SubFactory(UserFactory)
    agent = None
    kind = Kind.SEMANTIC
    statement = Sequence(lambda n: f"The user has {n} bicycles.")
    text_hash = LazyAttribute(lambda fact: text_hash(fact.statement))
    language = "english"
    origin = Origin.EXTRACTION
    state = State.PENDING
    observed_at = MONDAY
    last_confirmed_at = SelfAttribute("observed_at")

    @post_generation  # type: ignore[untyped-decorator]
    def message(fact: Fact, create: bool, extracted: Message | None, **values: Any) -> None:
        if extracted is not None:
            quote = values.get("quote", extracted.content)
            Evidence.objects.create(owner=fact.owner, fact=fact, message=extracted, quote=quote)

    @classmethod
    def _create(cls, model_class: type[Fact], *args: Any, **values: Any) -> Fact:
        state = State(values.pop("state"))
        end = {name: values.pop(name) for name in _END if name in values}
        review = {"reviewer": values["owner"], "reviewed_at": timezone.now()}
        born = State(end.get("archived_from") or State.ACTIVE)
        if state in {State.PENDING, State.REJECTED}:
            born = State.PENDING
        with acting(person(values["owner"]), "made by a test"):
            values = (review if born == State.ACTIVE else {}) | values
            fact: Fact = super()._create(model_class, *args, state=born, **values)
            if state == State.REJECTED:
                _move(fact, state=state, **review)
            elif state == State.ARCHIVED:
                _move(fact, state=state, **_archived(born, end))
        return fact


_END = ("superseded_by", "archived_reason", "archived_from")


def _archived(born: State, end: dict[str, Any]) -> dict[str, Any]:
    why = ArchivedReason.SUPERSEDED if end.get("superseded_by") else ArchivedReason.FORGOTTEN
    return {"archived_from": born, "archived_reason": why} | end


def _move(fact: Fact, **values: Any) -> None:
    Fact.objects.filter(pk=fact.pk).update(**values)
    fact.refresh_from_db()


class CaseFactory(_Owned[Case]):
    """A case in any state, brought there by steps that the database allows. Pending unless `state`
    says otherwise; its agent is the conversation's. `message` makes it rest on that message."""

    class Meta:
        model = Case
        skip_postgeneration_save = True

    conversation = SubFactory(ConversationFactory)
    owner = SelfAttribute("conversation.owner")
    agent = SelfAttribute("conversation.agent")
    goal = Sequence(lambda n: f"Mend the puncture number {n} of a bicycle tyre")
    context = "A front tyre lost air on a long ride."
    approach = "The tube was patched from the inside and left to dry."
    outcome = "The tyre holds air since."
    quality = "success"
    lessons = "Look for the thorn before the patch goes on."
    actors = ("the user",)
    tags = ("bicycle",)
    text_hash = LazyAttribute(lambda case: text_hash(f"{case.goal}\n{case.outcome}"))
    language = "english"
    happened_at = MONDAY
    state = State.PENDING

    @post_generation  # type: ignore[untyped-decorator]
    def message(case: Case, create: bool, extracted: Message | None, **values: Any) -> None:
        if extracted is not None:
            CaseSource.objects.create(owner=case.owner, case=case, message=extracted)

    @classmethod
    def _create(cls, model_class: type[Case], *args: Any, **values: Any) -> Case:
        state = values.pop("state")
        case: Case = super()._create(model_class, *args, **values)
        for step in _case_steps(state):
            case.refresh_from_db()
            changes = {"state": step, "revision": case.revision + 1}
            if step in (State.ACTIVE, State.REJECTED):
                changes |= {"reviewer": case.owner, "reviewed_at": timezone.now()}
            if step == State.ARCHIVED:
                changes |= {"archived_from": State.ACTIVE, "archived_reason": "forgotten"}
            Case.objects.filter(pk=case.pk).update(**changes)
        case.refresh_from_db()
        return case


def _case_steps(state: str) -> tuple[State, ...]:
    if state == State.ARCHIVED:
        return State.ACTIVE, State.ARCHIVED
    return () if state == State.PENDING else (State(state),)
