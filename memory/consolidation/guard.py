"""What a merged sentence must keep of each of its members, whoever wrote it. Pure."""

import re
from collections.abc import Callable, Sequence

from memory.policy.difference import Aspect, differs, negations
from memory.sensitive import addresses_assistant, credentials, directive, hidden_text
from memory.text import detect_language, has_relative_date, words
from memory.text.lists import listed

# Of the longest member.
LEAST, MOST = 0.4, 4.0
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”]+", re.IGNORECASE)
# Months and days in languages that write them small; elsewhere a capital gives them away as names.
_DATE_WORDS = listed("""
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    lundi mardi mercredi jeudi vendredi samedi dimanche
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo
    janeiro fevereiro março maio junho julho setembro outubro dezembro
    segunda-feira terça-feira quarta-feira quinta-feira sexta-feira
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    januari februari maart mei juni juli augustus september oktober november december
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    januar februar marts april maj august augusti desember
    måndag tisdag onsdag torsdag fredag lördag söndag mandag tirsdag lørdag søndag
    maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada
    grudnia poniedziałek wtorek środa czwartek piątek sobota niedziela
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    понедельник вторник среда четверг пятница суббота воскресенье
""")
_FINNISH_MONTH = re.compile(r"\w+kuu(?:n|ta|ssa|sta|hun)?")
_ADDED = (Aspect.NUMBER, Aspect.NAME)


def refusal(proposed: str, members: Sequence[str]) -> str:
    """Why the text may not stand for its members, in words that quote neither; empty: it may."""
    lengths = [len(member) for member in members]
    if not LEAST * max(lengths) <= len(proposed) <= MOST * max(lengths):
        return "the proposed text is too short or too long"
    for member in members:
        lost = _lost(proposed, member)
        if lost:
            return f"the proposed text lost {lost} of one of them"
    added = differs(proposed, "\n".join(members))
    if added is not None and added.aspect in _ADDED:
        return f"the proposed text adds a {added.aspect}"
    if _urls(proposed) - {url for member in members for url in _urls(member)}:
        return "the proposed text adds a link"
    return _unsafe(proposed, members)


def _lost(proposed: str, member: str) -> str:
    difference = differs(member, proposed)
    if difference is not None and difference.aspect != Aspect.DETAIL:
        return f"a {difference.aspect}" if difference.aspect != Aspect.ORDER else "the order"
    if negations(proposed) < negations(member):
        return "a negation"
    if not _urls(member) <= _urls(proposed):
        return "a link"
    if not _dates(member) <= _dates(proposed):
        return "a date"
    return ""


def _unsafe(proposed: str, members: Sequence[str]) -> str:
    """A model may be talked into writing what none of the members says."""
    if credentials(proposed):
        return "the proposed text holds a credential"
    for name, finds in _FINDINGS:
        if finds(proposed) and not any(finds(member) for member in members):
            return f"the proposed text adds {name}"
    return ""


def _has_relative_date(text: str) -> bool:
    return has_relative_date(text, detect_language(text))


def _urls(text: str) -> set[str]:
    return {match.rstrip(".,;:!?)]}") for match in _URL.findall(text)}


def _dates(text: str) -> set[str]:
    found = set(words(text))
    return found & _DATE_WORDS | {word for word in found if _FINNISH_MONTH.fullmatch(word)}


_FINDINGS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("an instruction", directive),
    ("hidden text", hidden_text),
    ("words to the assistant", addresses_assistant),
    ("a relative date", _has_relative_date),
)
