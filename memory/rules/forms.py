"""What a person types about rules."""

from typing import Any

from django import forms

from agents.access import agents_of
from agents.models import Agent, User
from memory.lifecycle.values import Scope
from memory.models import Rule
from memory.rules.imports import MOST_BYTES
from memory.rules.screen import LONGEST, fault, tidy

EVERYBODY = "all"


class ScopeForm(forms.Form):
    """`scope`: an assistant's id, or "all"."""

    scope = forms.ChoiceField(label="Who follows it", required=False)

    def __init__(self, owner: User, *args: Any, **values: Any) -> None:
        super().__init__(*args, **{"label_suffix": ""} | values)
        self.agents = {str(agent.pk): agent for agent in agents_of(owner).order_by("name")}
        choices = [(EVERYBODY, "All assistants")]
        choices += [(key, f"Only {agent.name}") for key, agent in self.agents.items()]
        self.fields["scope"].choices = choices  # type: ignore[attr-defined]

    @property
    def agent(self) -> Agent | None:
        return self.agents.get(self.cleaned_data["scope"])

    @property
    def chosen_scope(self) -> Scope | None:
        """None where nothing was said, so that it stays where it is."""
        return Scope(self.agent) if self.cleaned_data["scope"] else None


class RuleForm(ScopeForm):
    text = forms.CharField(
        label="Rule",
        # One line of it is stored; what is typed may break lines.
        max_length=4 * LONGEST,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    field_order = ("text", "scope")

    @classmethod
    def of(cls, rule: Rule, data: Any = None) -> "RuleForm":
        initial = {"text": rule.text, "scope": str(rule.agent_id or EVERYBODY)}
        return cls(rule.owner, data, initial=initial, auto_id=f"rule-{rule.pk}-%s")

    def clean_text(self) -> str:
        text = tidy(self.cleaned_data["text"])
        if why := fault(text):
            raise forms.ValidationError(why)
        return text


class FileForm(ScopeForm):
    """A file, or its text."""

    file = forms.FileField(label="A file", required=False, allow_empty_file=True)
    pasted = forms.CharField(
        label="or its text",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    field_order = ("file", "pasted", "scope")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        file = values.get("file")
        if file is None:
            values |= {"name": "pasted text", "text": values.get("pasted") or ""}
        elif file.size > MOST_BYTES:
            self.add_error("file", f"It is larger than {MOST_BYTES // 1000} kB.")
        else:
            values |= {"name": file.name, "text": self._decoded(file.read())}
        if not self.errors and not values["text"].strip():
            self.add_error(None, "There is nothing in it: choose a file, or paste its text.")
        return values

    def _decoded(self, raw: bytes) -> str:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.add_error("file", "It is no text: save it as UTF-8.")
            return ""
        if "\x00" in text:
            self.add_error("file", "It is no text: it holds NUL characters.")
        return text
