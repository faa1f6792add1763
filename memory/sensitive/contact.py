"""Data by which somebody can be reached, found or charged."""

import re
import unicodedata
from collections.abc import Callable

_READ = 10_000  # characters; statements and quotes are far shorter

_EMAIL = re.compile(
    r"[\w.+-]{1,64}\s?(?:@|\(at\)|\[at\])\s?(?:[\w-]{1,63}\.){1,4}[a-z]{2,24}", re.I
)
_SOCIAL_SECURITY = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_DATE = re.compile(
    r"(?<![\d-])(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}"
    r"|(?:1[5-9]|20)\d\d-(?:1[5-9]|20)\d\d)(?![\d-])"
    r"(?:[ T]\d\d:\d\d(?::\d\d)?)?"
)
_DIGITS = re.compile(
    r"(?<![\w.,])(?:\+|00|\()?\d(?:[ \t().\-/\u00a0\u2010-\u2015]{0,3}\d){6,24}(?!\w)"
)
_PHONE_DIGITS = range(7, 16)
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}", re.I)
_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_WALLET = re.compile(
    r"(?<!\w)(?:0x[0-9a-fA-F]{40}|bc1[a-z0-9]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?!\w)"
)
_STREET = re.compile(
    r"(?-i:(?<!\w)\d{1,5}[A-Za-z]?,? (?:[A-Z][\w.'-]{1,20} ){1,3}(?:Street|St\.?|Avenue|Ave|Road|Rd"
    r"|Boulevard|Blvd|Lane|Ln|Drive|Dr\.|Court|Square|Terrace|Close|Way)(?!\w))"
    r"|(?<!\w)\d{1,4}(?: bis| ter)?,? (?:rue|avenue|boulevard|chemin|allée|impasse) \w"
    r"|\w{2,30}(?:straße|strasse|str\.|gasse|allee|weg|platz|straat|laan|gracht|gatan|vägen"
    r"|katu|tie|gade|vej) \d{1,4}(?!\d)"
    r"|(?<!\w)(?:calle|avenida|via|viale|piazza|rua|praça|plaza|ulica|ul\.) "
    r"(?:[\w.'-]{2,20} ){1,4}(?:n[.º°] ?)?\d{1,4}(?!\d)"
    r"|(?:улица|ул\.|проспект|пр-т|вулиця|вул\.) ?[\w .-]{2,40}?,? (?:д\. ?)?\d{1,4}"
    r"|\d{1,4}(?:丁目|番地)|[路街道巷]\d{1,5}[号號]"
    r"|(?:로|길) ?\d{1,4}(?:-\d{1,4})?(?!\d|년|월|일|시|분|명|개|살)",
    re.I,
)  # fmt: skip


def contact_or_payment(text: str) -> bool:
    plain = _with_plain_digits(text[:_READ])
    if _EMAIL.search(plain) or _SOCIAL_SECURITY.search(plain) or _STREET.search(plain):
        return True
    return _is_account(plain) or any(
        _could_be_phone(match[0]) for match in _DIGITS.finditer(_DATE.sub(" ; ", plain))
    )


def _with_plain_digits(text: str) -> str:
    """Arabic, Indic and full-width digits as 0 to 9."""
    text = unicodedata.normalize("NFKC", text)
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in text)


def _could_be_phone(match: str) -> bool:
    digits = sum(char.isdigit() for char in match)
    if match.startswith(("+", "00", "0", "(")):
        return digits in _PHONE_DIGITS
    # A long bare number is an amount or an id; grouped by threes it is an amount.
    grouped_by_threes = re.fullmatch(r"\d{1,3}([ .\u00a0])\d{3}(?:\1\d{3})*", match)
    groups = len(re.findall(r"\d+", match))
    return digits in _PHONE_DIGITS and digits >= 7 and groups >= 2 and not grouped_by_threes


def _is_account(text: str) -> bool:
    from stdnum import iban, luhn

    numbers = (re.sub(r"[ -]", "", match[0]) for match in _CARD.finditer(text))
    return (
        any(luhn.is_valid(number) and int(number) for number in numbers)
        or any(_holds_iban(match[0], iban.is_valid) for match in _IBAN.finditer(text))
        or bool(_WALLET.search(text))
    )


def _holds_iban(run: str, is_valid: Callable[[str], bool]) -> bool:
    """The run may go on into the next words, so every length an IBAN can have is tried."""
    compact = run.replace(" ", "")
    return any(is_valid(compact[:length]) for length in range(15, min(len(compact), 34) + 1))
