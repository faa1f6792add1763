"""When a fact holds in the world, set by itself."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from memory.lifecycle import Edit
from memory.models import Fact
from memory.review.forms import BOUNDS, Day, last_moment
from memory.vocabulary import Precision


class ValidityForm(forms.Form):
    """`until` is the last day on which it holds; a fact stores the moment after it."""

    since = forms.DateField(label="Holds from", required=False, widget=Day, validators=BOUNDS)
    until = forms.DateField(
        label="Holds until, this day included", required=False, widget=Day, validators=BOUNDS
    )

    @classmethod
    def of(cls, fact: Fact, data: Any = None) -> "ValidityForm":
        last = last_moment(fact.valid_until)
        initial = {
            "since": timezone.localdate(fact.valid_from) if fact.valid_from else None,
            "until": timezone.localdate(last) if last else None,
        }
        return cls(data, initial=initial, auto_id="holds-%s", label_suffix="")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        since, until = values.get("since"), values.get("until")
        if since and until and until < since:
            self.add_error("until", "It can't end before it begins.")
        return values

    def edit(self, fact: Fact) -> Edit:
        since, until = self.cleaned_data["since"], self.cleaned_data["until"]
        return Edit.of(
            fact,
            valid_from=_start(since),
            valid_until=_start(until + timedelta(days=1) if until else None),
            valid_precision=Precision.DAY,
        )


def _start(day: date | None) -> datetime | None:
    return timezone.make_aware(datetime.combine(day, time.min)) if day else None
