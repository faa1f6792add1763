"""What a person may say about a candidate or a fact, and how it becomes an edit."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils import timezone

from agents.access import agents_of
from agents.models import Agent
from memory.lifecycle import Edit, Scope
from memory.models import Fact
from memory.review.masking import masked
from memory.vocabulary import Kind, Precision, Tag

MAX_STATEMENT = 500
EVERYBODY = "all"  # for every assistant
# In every zone the days around these can still be stored.
BOUNDS = [MinValueValidator(date(1000, 1, 1)), MaxValueValidator(date(9998, 12, 31))]


class Day(forms.DateInput):
    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class EditForm(forms.Form):
    """`until` is the last day on which it holds; a fact stores the moment after it."""

    statement = forms.CharField(
        max_length=MAX_STATEMENT,
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
    )
    kind = forms.ChoiceField(choices=Kind.choices)
    # Left out, it stays where it is.
    scope = forms.ChoiceField(label="Who may read it", required=False)
    since = forms.DateField(label="Holds from", required=False, widget=Day, validators=BOUNDS)
    until = forms.DateField(
        label="Holds until, this day included", required=False, widget=Day, validators=BOUNDS
    )
    tags = forms.MultipleChoiceField(
        choices=[(tag.value, tag.label) for tag in Tag],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    pinned = forms.BooleanField(label="Pin it: it rides along on every turn", required=False)

    def __init__(self, agents: dict[str, Agent], *args: Any, **values: Any) -> None:
        super().__init__(*args, **values)
        self.agents = agents
        choices = [(EVERYBODY, "All assistants")]
        choices += [(key, f"Only {agent.name}") for key, agent in agents.items()]
        self.fields["scope"].choices = choices  # type: ignore[attr-defined]

    @classmethod
    def of(cls, fact: Fact, data: Any = None, **initial: Any) -> "EditForm":
        agents = {str(agent.pk): agent for agent in agents_of(fact.owner)}
        initial = _initial(fact) | initial
        auto_id = f"id-{fact.pk}-%s"
        return cls(agents, data, initial=initial, auto_id=auto_id, label_suffix="")

    def clean_statement(self) -> str:
        statement = " ".join(str(self.cleaned_data["statement"]).split())
        if not any(character.isalnum() for character in statement):
            raise forms.ValidationError("It needs words: nothing here can be read.")
        return statement

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        since, until = values.get("since"), values.get("until")
        if since and until and until < since:
            self.add_error("until", "It can't end before it begins.")
        return values

    def edit(self, fact: Fact) -> Edit:
        """Days that were left alone keep the moment and precision they had."""
        values = self.cleaned_data
        dated = {"since", "until"} & set(self.changed_data)
        return Edit(
            statement=values["statement"],
            kind=Kind(values["kind"]),
            tags=tuple(Tag(tag) for tag in values["tags"]),
            valid_from=_start(values["since"]) if "since" in dated else fact.valid_from,
            valid_until=_end(values["until"]) if "until" in dated else fact.valid_until,
            valid_precision=Precision.DAY if dated else Precision(fact.valid_precision),
            pinned=values["pinned"],
            scope=self._scope(),
        )

    def _scope(self) -> Scope | None:
        chosen = self.cleaned_data["scope"]
        return Scope(self.agents.get(chosen)) if chosen else None


class RejectForm(forms.Form):
    reason = forms.CharField(max_length=200, required=False)


class MakeRuleForm(forms.Form):
    """`for_agent`: only that of the candidate follows it."""

    rule = forms.CharField(max_length=500)
    for_agent = forms.BooleanField(required=False)


class SnoozeForm(forms.Form):
    """`wait`: "day", "week", or else until the day `until`, on the owner's clock."""

    wait = forms.ChoiceField(
        choices=[("day", "Tomorrow"), ("week", "Next week"), ("date", "Until")], required=False
    )
    until = forms.DateField(required=False, widget=Day, validators=BOUNDS)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        today = timezone.localdate()
        days = {"day": 1, "week": 7}.get(values.get("wait") or "")
        day = today + timedelta(days=days) if days else values.get("until")
        if "until" not in self.errors and (day is None or day <= today):
            self.add_error("until", "Choose a day after today.")
        values["moment"] = _start(day)
        return values


def _initial(fact: Fact) -> dict[str, Any]:
    return {
        # A secret is not typed out for who edits it either.
        "statement": masked(fact.statement)[0],
        "kind": fact.kind,
        "scope": str(fact.agent_id) if fact.agent_id else EVERYBODY,
        "since": _day(fact.valid_from),
        "until": _day(last_moment(fact.valid_until)),
        "tags": fact.tags,
        "pinned": fact.pinned,
    }


def last_moment(until: datetime | None) -> datetime | None:
    """Validity is half-open; people say the last day on which something holds."""
    return until - timedelta(microseconds=1) if until else None


def _day(moment: datetime | None) -> date | None:
    return timezone.localdate(moment) if moment else None


def _start(day: date | None) -> datetime | None:
    return timezone.make_aware(datetime.combine(day, time.min)) if day else None


def _end(day: date | None) -> datetime | None:
    return _start(day + timedelta(days=1)) if day else None
