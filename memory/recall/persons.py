"""What owners say of themselves, as facts say it of the user: "wohne" as "wohnt". Pure.

Stemmers take some pairs of the two for one word, in English and Spanish nearly all; these they
don't. A form that no language has costs nothing: no fact has it either.
"""

from collections.abc import Callable, Iterable, Iterator

from memory.text.language import UNKNOWN
from memory.text.lists import listed

Forms = Iterable[str]


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(">") for pair in sorted(listed(text)))


# Where the stem changes too.
_IRREGULAR = {
    "de": _pairs("""
        habe>hat esse>isst lese>liest spreche>spricht sehe>sieht fahre>fährt trage>trägt
        schlafe>schläft laufe>läuft nehme>nimmt gebe>gibt helfe>hilft treffe>trifft
        vergesse>vergisst
        werde>wird halte>hält lasse>lässt wasche>wäscht wachse>wächst bin>ist
    """),
    "fi": _pairs("""
        teen>tekee näen>näkee pidän>pitää luen>lukee tiedän>tietää kirjoitan>kirjoittaa
        soitan>soittaa hoidan>hoitaa opetan>opettaa käytän>käyttää otan>ottaa annan>antaa
        lähden>lähtee juoksen>juoksee ymmärrän>ymmärtää myyn>myy
    """),
    "ru": _pairs("""
        люблю>любит хожу>ходит вожу>водит ношу>носит ем>ест могу>может бегу>бежит сплю>спит
        готовлю>готовит ищу>ищет езжу>ездит вижу>видит лечу>летит плачу>платит держу>держит
    """),
    "es": _pairs("""
        tengo>tiene hago>hace conduzco>conduce conozco>conoce salgo>sale vengo>viene digo>dice
        voy>va soy>es estoy>está pongo>pone traigo>trae sé>sabe
    """),
    "pt": _pairs("tenho>tem faço>faz posso>pode sei>sabe vou>vai estou>está leio>lê sou>é"),
    "it": _pairs("ho>ha faccio>fa vado>va posso>può so>sa sto>sta bevo>beve esco>esce tengo>tiene"),
    "fr": _pairs("ai>a suis>est vais>va peux>peut veux>veut dois>doit bois>boit vois>voit"),
}


def _german(word: str) -> Forms:
    return (f"{word[:-1]}t", f"{word[:-1]}et") if word.endswith("e") else ()


def _dutch(word: str) -> Forms:
    return () if word.endswith("t") else (f"{word}t",)


def _french(word: str) -> Forms:
    return (f"{word[:-1]}t", word[:-1]) if word.endswith("s") else ()


def _finnish(word: str) -> Iterator[str]:
    """Asun, asunko: asuu; juon: juo."""
    bare = word[:-2] if word.endswith(("ko", "kö")) else word
    if bare != word:
        yield bare
    if bare.endswith("n") and len(bare) > 2:
        yield from (bare[:-1], bare[:-1] + bare[-2])


def _russian(word: str) -> Iterator[str]:
    """Живу: живёт; facts are written with ё and without."""
    yield word.replace("ё", "е")
    for own, ends in (
        (("усь", "юсь"), ("ется", "ётся", "ится")),
        (("у", "ю"), ("ет", "ёт", "ит")),
    ):
        for end in own:
            if word.endswith(end):
                yield from (word.removesuffix(end) + other for other in ends)


def _ukrainian(word: str) -> Forms:
    return (word[:-1] + end for end in ("е", "є", "ить", "їть")) if word[-1:] in "ую" else ()


def _polish(word: str) -> Iterator[str]:
    if word.endswith("m"):
        yield word[:-1]
    elif word.endswith("ę"):
        yield from (word[:-1] + end for end in ("e", "i", "y", ""))


def _czech(word: str) -> Iterator[str]:
    if word.endswith("m"):
        yield word[:-1]
    elif word[-1:] in "iu":
        yield f"{word[:-1]}e"


def _hungarian(word: str) -> Iterator[str]:
    if word.endswith(("om", "em", "öm", "ok", "ek", "ök")):
        yield from (f"{word[:-2]}ik", word[:-2])


def _arabic(word: str) -> Forms:
    """The prefix of the first person, as those of the third."""
    return (f"ي{word[1:]}", f"ت{word[1:]}") if word[:1] in "أا" and len(word) > 3 else ()


def _persian(word: str) -> Forms:
    return (f"{word[:-1]}د",) if word.endswith("م") else ()


_RULES: dict[str, Callable[[str], Forms]] = {
    "de": _german,
    "nl": _dutch,
    "fr": _french,
    "fi": _finnish,
    "ru": _russian,
    "uk": _ukrainian,
    "pl": _polish,
    "cs": _czech,
    "sk": _czech,
    "hu": _hungarian,
    "ar": _arabic,
    "fa": _persian,
}


# Short questions are taken for a neighbour's language.
_KIN = {
    **{code: {"ru", "uk"} for code in ("ru", "uk", "be", "bg")},
    **{code: {"cs", "pl"} for code in ("cs", "sk", "pl")},
    **{code: {"de", "nl"} for code in ("de", "nl", "af")},
}


def as_of_the_user(word: str, language: str) -> set[str]:
    """Forms under which a fact may have the word, which is in lower case. `language`: ISO 639, or
    `und`, which may be any."""
    if language == "en" or (word.isascii() and len(word) < 3):
        return set()
    known = set(_RULES) | set(_IRREGULAR)
    if language != UNKNOWN:
        known = _KIN.get(language, {language})
    forms = {form for one in known for form in (_RULES[one](word) if one in _RULES else ())}
    forms |= {_IRREGULAR[one][word] for one in known if word in _IRREGULAR.get(one, ())}
    return forms - {word, ""}
