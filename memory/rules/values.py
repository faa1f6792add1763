"""What the steps over rules answer with."""

from dataclasses import dataclass

from memory.lifecycle.values import LifecycleError
from memory.models import Rule


class RuleError(LifecycleError):
    """A step that was refused. Nothing has changed. The message is for people."""


@dataclass(eq=False)
class Unfit(RuleError):
    """The text can't be a rule."""

    why: str

    def __str__(self) -> str:
        return self.why


@dataclass(eq=False)
class SameRule(RuleError):
    """A rule of the same scope says the same."""

    rule: Rule

    def __str__(self) -> str:
        return f"The same rule is there already: “{self.rule.text}”"


@dataclass(eq=False)
class Overtaken(RuleError):
    """The rule does not stand any more; `rule` is as it is now."""

    rule: Rule

    def __str__(self) -> str:
        how = "has a newer wording" if self.rule.superseded_by_id else "was taken out"
        return f"This was changed elsewhere: the rule {how}. Look at it again."


class TooMany(RuleError):
    def __init__(self, most: int) -> None:
        super().__init__(f"There are {most} rules already. Take one out, or say two in one.")
