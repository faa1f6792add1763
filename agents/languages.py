"""The languages that an owner may have things written in."""

from functools import cache

from django.conf.locale import LANG_INFO

from agents.models import User


@cache
def languages() -> dict[str, str]:
    """English names by ISO 639 code, those without a region."""
    found = {
        code: str(about["name"])
        for code, about in LANG_INFO.items()
        if code.isalpha() and len(code) < 4 and "name" in about
    }
    return dict(sorted(found.items(), key=lambda pair: pair[1]))


def instruction(owner: User) -> str:
    """What a prompt is told about the language, in a paragraph of its own; empty without a choice.

    Only a name from the list gets into a prompt.
    """
    name = languages().get(owner.settings.language)
    return f"\n\nWrite in {name}, whatever language the facts are in.\n" if name else ""
