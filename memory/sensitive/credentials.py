"""Secrets in a text: found so that none is stored, redacted where a text must be kept."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from memory.text.characters import is_hidden
from memory.text.lists import listed, phrases

Span = tuple[int, int]
REDACTED = "[redacted]"

# The detectors read pieces of this many characters, so that no input can make them slow.
_PIECE, _OVERLAP = 4000, 600

# Formats that can be told by sight. The entropy and keyword detectors can't and are left out.
_KNOWN_FORMATS = (
    "artifactory.ArtifactoryDetector aws.AWSKeyDetector azure_storage_key.AzureStorageKeyDetector"
    " basic_auth.BasicAuthDetector cloudant.CloudantDetector discord.DiscordBotTokenDetector"
    " github_token.GitHubTokenDetector gitlab_token.GitLabTokenDetector"
    " ibm_cloud_iam.IbmCloudIamDetector ibm_cos_hmac.IbmCosHmacDetector jwt.JwtTokenDetector"
    " mailchimp.MailchimpDetector npm.NpmDetector openai.OpenAIDetector"
    " private_key.PrivateKeyDetector pypi_token.PypiTokenDetector sendgrid.SendGridDetector"
    " slack.SlackDetector softlayer.SoftlayerDetector square_oauth.SquareOAuthDetector"
    " stripe.StripeDetector telegram_token.TelegramBotTokenDetector twilio.TwilioKeyDetector"
)

_FORMATS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bsk-(?:ant-|proj-|or-|live-)?[A-Za-z0-9_-]{20,200}",
        r"\b(?:ghp|gho|ghu|ghs|ghr)_\w{30,80}|\bgithub_pat_\w{30,100}",
        r"\bAIza[\w-]{30,50}",
        r"\bhf_[A-Za-z0-9]{30,50}",
        r"\bA(?:KIA|SIA)(?:\s?[0-9A-Z]){16}\b",
        r"\bxox[abeoprs]-[\w-]{10,200}",
        r"\beyJ[\w-]{8,2000}\.eyJ[\w-]{8,2000}(?:\.[\w-]{0,2000})?",
        r"\b[Bb]earer\s+[\w.~+/=-]{16,2000}",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:[^\s/@]{1,200}@[\w.-]+",
    )
)
_KEY = r"(?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d) ?-{4,5}"
_PEM = re.compile(rf"-{{4,5}} ?BEGIN {_KEY}")
_PEM_PART = re.compile(
    rf"(?P<end>-{{4,5}} ?END {_KEY})|(?P<key>[A-Za-z0-9+/]{{24,}}={{0,2}})|[^\s-]+|-+"
)
# The last line of a key, which is shorter than the others.
_PEM_REST = re.compile(r"[A-Za-z0-9+/]{1,23}={0,2}(?=\n|\Z)")
# Words that may stand within a key: its own headers, the foot of a page and the head of the next.
_STRANGE = 40
# A PEM that was packed once more, as in kubeconfig files, and the private part of a PuTTY key.
_PACKED_KEYS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bLS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0Eg|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg)"
        r"[A-Za-z0-9+/=]+(?:\s+[A-Za-z0-9+/=]{40,})*",
        r"(?<=Private-Lines: )\d{1,4}(?:\s+[A-Za-z0-9+/=]{4,})+",
    )
)

# What secrets are called. "PIN" and "token" need a value that looks like one.
_NAMES = "|".join(
    phrases("""
    pass(?:word|phrase|code)|passwd|pwd|pass\\s?phrase|api[\\s_-]?key|access[\\s_-]?key
    secret[\\s_-]?(?:access[\\s_-]?)?key|secret(?=["']?\\s?[:=])|client[\\s_-]?secret|access[\\s_-]?token|auth[\\s_-]?token|private[\\s_-]?key
    pa(?:ss|ß)wor[td]|kennwort|geheimzahl|mot\\s+de\\s+passe|contraseña|clave\\s+secreta|senha|palavra-passe
    parola\\s+d'ordine|wachtwoord|lösenord(?:et)?|adgangskode(?:n)?|passord(?:et)?|salasana(?:ni)?|hasło|heslo|jelszó|jelszavam
    parol(?:a|am|ă)|şifre(?:m|si)?|mật\\s+khẩu|kata\\s+sandi|пароль|кодовое\\s+слово
    كلمة\\s+(?:المرور|السر)|سيسما|סיסמ[הא]|הסיסמה|पासवर्ड|密[码碼]|口令|パスワード|暗証番号|비밀번호|รหัสผ่าน
""")
)  # fmt: skip
_LINKS = (
    "is|was|are|=|:|：|->|→|ist|lautet|est|es|é|è|sarà|war|was|är|er|on|to|jest|je|là|adalah|—|-|هي|هو|היא"
    "|הוא|है|是|为|為|は|が|은|는|คือ"
)
_IS_NAME = re.compile(rf"(?:\w+ )?(?:{_NAMES}|PIN|CVC|CVV)s?", re.IGNORECASE)
_NAMED = re.compile(
    rf"(?P<name>{_NAMES})(?P<of>(?:\s+(?!(?:{_LINKS})\s)[^\s:=：]{{1,30}}){{0,5}}?)"
    rf"[\"']?\s*(?P<link>[:=：→]|(?:(?:{_LINKS})(?=[\s:\"'“「„«]|(?<=[^\x00-\u024f])))\s*:?)"
    r"\s*[\"'“「„«`]?(?P<value>[^\s\"'”」“»`。，]{4,200})",
    re.IGNORECASE,
)
_PIN = re.compile(
    r"\b(?:PIN|pin code|CVV|CVC|TAN|Geheimzahl|código PIN|code PIN)\b\D{0,20}?(?<!\d)"
    r"(\d{3,8})(?!\d)"
)
_TURKISH = re.compile(r"\bşifre(?:m|miz|si)\s+(\S{0,60}\d\S{0,60})", re.IGNORECASE)
_SEED = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup)\s+(?:phrase|words?)\b[^a-z]{0,5}(?:is|are|:)?\s*"
    r"((?:[a-z]{3,8}(?:[^\S\n]|\n(?![^\S\n]*\n)|[,;|]|\d{1,2}[.):]?\s|[*-]\s)+){11,23}"
    r"[a-z]{3,8})",
    re.IGNORECASE,
)
_NO_VALUES = listed("""
    required incorrect wrong invalid correct stored hashed saved changed expired weak strong secure
    protected forgotten lost reset being needed missing empty unknown important necessary never
    always still same different that this what which very called named used kept also easy hard too
    short long case hidden encrypted managed generated updated shared leaked compromised nowhere
    redacted safe fine good bad okay simple complex
    your their mine with from have been they about when where because only just
    falsch richtig sicher vergessen nicht immer noch gespeichert incorrecto incorrecta segura
    oublié perdu faux olvidada esquecida sbagliata vergeten fel glömt väärä hukassa
""")
# "a password checker that is fast" is not about a password; "the password for the router is" is.
_SOMETHING_ELSE = re.compile(r"\s+(?!(?:for|to|of|on|in|at|für|pour|para|de|del|da|voor|van)\s)")


def credentials(text: str) -> list[Span]:
    """Half-open ranges of the text that hold a secret, in order and apart from one another."""
    plain, positions = _without_hidden(text)
    found: list[Span] = []
    for start, end in sorted({*_pem_blocks(plain), *_in_pieces(plain)}):
        begin, stop = positions[start], positions[end - 1] + 1
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], stop))
        else:
            found.append((begin, stop))
    return found


def redact(text: str) -> str:
    for start, end in reversed(credentials(text)):
        text = text[:start] + REDACTED + text[end:]
    return text


def _without_hidden(text: str) -> tuple[str, list[int]]:
    """A key with zero-width characters strewn in is still a key."""
    kept = [(c, i) for i, c in enumerate(text) if not is_hidden(c)]
    return "".join(c for c, _ in kept), [i for _, i in kept]


def is_name(label: str) -> bool:
    """Whether that is what a secret is called, and nothing else, as over a column of a table."""
    return _IS_NAME.fullmatch(" ".join(label.split())) is not None


def is_value(text: str) -> bool:
    """Whether one word beneath such a name may be the secret."""
    bare = text.strip(".,;!?()[]*_")
    unsaid = len(bare) < 4 or bare.lower() in _NO_VALUES or set(bare) <= set("*•xX.-_")
    return not unsaid and any(char.isalnum() for char in bare)


def _pem_blocks(text: str) -> Iterator[Span]:
    at = 0
    while begin := _PEM.search(text, at):
        at = _pem_end(text, begin.end())
        yield begin.start(), at
    for pattern in _PACKED_KEYS:
        yield from (match.span() for match in pattern.finditer(text))


def _pem_end(text: str, begin: int) -> int:
    """A key whose end is missing reaches as far as its lines look like one: a text that only
    speaks of keys goes on."""
    last, strange = begin, 0
    for part in _PEM_PART.finditer(text, begin):
        if part["end"]:
            return part.end()
        if part["key"] or (strange == 0 and _PEM_REST.match(text, part.start())):
            last, strange = part.end(), 0 if part["key"] else 1
            continue
        strange += 1
        if strange > _STRANGE:
            return last if last > begin else part.start()
    return last if last > begin else len(text)


def _in_pieces(text: str) -> Iterator[Span]:
    for offset in range(0, max(len(text) - _OVERLAP, 1), _PIECE - _OVERLAP):
        piece = text[offset : offset + _PIECE]
        for start, end in (*_by_format(piece), *_by_name(piece), *_by_detector(piece)):
            yield offset + start, offset + end


def _by_format(piece: str) -> Iterator[Span]:
    for pattern in _FORMATS:
        yield from (match.span() for match in pattern.finditer(piece))


def _by_name(piece: str) -> Iterator[Span]:
    for match in _NAMED.finditer(piece):
        if _is_a_value(match):
            yield match.span("value")
    yield from (match.span(1) for match in _TURKISH.finditer(piece))
    yield from (match.span(1) for match in _PIN.finditer(piece))
    yield from (match.span(1) for match in _SEED.finditer(piece))


def _is_a_value(named: re.Match[str]) -> bool:
    """`password is required` names no password. A bare word counts, unless it is a common one."""
    value = named["value"]
    bare = value.strip(".,;!?()[]*_")
    if not is_value(value):
        return False
    if not bare.isascii() or not bare.isalpha() or named["link"].strip()[-1] in ":=：":
        return True
    return value.rstrip(".,;!?") == bare and not _SOMETHING_ELSE.match(named["of"])


def _by_detector(piece: str) -> Iterator[Span]:
    for line in re.finditer(r"[^\n]+", piece):
        for detector in _detectors():
            for secret in set(detector.analyze_string(line[0])):
                at = line[0].find(secret)
                if secret and at >= 0:
                    yield line.start() + at, line.start() + at + len(secret)


@cache
def _detectors() -> tuple[Any, ...]:
    from importlib import import_module

    found = []
    for name in _KNOWN_FORMATS.split():
        module, detector = name.split(".")
        found.append(getattr(import_module(f"detect_secrets.plugins.{module}"), detector)())
    return tuple(found)
