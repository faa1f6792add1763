"""Which parts of a message its sender typed, and which were pasted, quoted or made by a program.

A guess, and always the careful one: whatever looks foreign is not typed, and the only cost of a
mistake is that the owner is asked.
"""

import re
from collections.abc import Iterator

from memory.text.lists import listed, phrases
from memory.text.words import words

Span = tuple[int, int]

# Nobody types that much in one go; measured on chat exports, longer ones are pasted.
LONG_MESSAGE = 4000
LONG_PARAGRAPH = 1000
LONG_LIST = 15  # lines on end
LONG_QUOTATION = 6  # words; shorter ones are titles and nicknames

_FENCE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]{1,300}`")
_LINES = (
    re.compile(r"^[ \t]*(?:>|&gt;|＞|\|).*$", re.MULTILINE),
    # Logs, chat logs, stack traces, shells, data and code.
    re.compile(
        r"^[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d{1,2}[:.]\d\d(?:[:.]\d\d)?[\] ]"
        r"|\[?\d{1,2}[./]\d{1,2}[./]\d{2,4},? \d|Traceback \(|at [\w.$]{1,80}\("
        r"|[{}\[\]<]|#include|import \w|from \w{1,40} import|def \w|class \w{1,40}[:({]"
        r"|SELECT |INSERT |\$ |>>> |- ?\[[ x]\]).*$",
        re.MULTILINE,
    ),
)
_QUOTATIONS = tuple(
    re.compile(pattern)
    for pattern in (
        "“[^“”]*”",
        "„[^„“”]*[“”]",
        "«[^«»]*»",
        "»[^«»]*«",
        "「[^「」]*」",
        "『[^『』]*』",
        "‘[^‘]*’(?!\\w)",
        '"[^"\n]*"',
        '"[^"]*"',
    )
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?/?>")
_CONTAINERS = listed("""
    document documents file files attachment email mail context quote blockquote pre code article
    page source text transcript pasted paste data memory memories system user assistant human
    conversation message messages untrusted_content tool_result search_results html body example
""")
_REST = (
    re.compile(r"^-{2,} ?(?:Original|Forwarded|Weitergeleitet|Ursprüngl|Message)", re.MULTILINE),
    re.compile(r"^Begin forwarded message", re.MULTILINE | re.IGNORECASE),
    re.compile(
        r"^(?:On|Am|Le|El|Il|Op|Den|Em|W dniu)\b.{5,120}\b"
        r"(?:wrote|schrieb.{0,60}|a écrit|escribió|ha scritto|schreef.{0,60}|skrev.{0,60}|escreveu"
        r"|napisała?) ?:",
        re.MULTILINE,
    ),
    re.compile(
        r"^[#*\s]*(?:User|Human|Assistant|System|AI|Bot|ChatGPT|Claude|Gemini)[*\s]*:",
        re.MULTILINE,
    ),
)
_HEADER = re.compile(
    r"^(?:From|To|Cc|Bcc|Sent|Date|Subject|Reply-To|Von|An|Gesendet|Datum|Betreff|De|À|Objet"
    r"|Para|Asunto|Fecha|Da|Oggetto|Aan|Onderwerp|Från|Till|Ämne|От|Кому|Тема|发件人|收件人|主题"
    r"|差出人|宛先|件名)\s?[:：]",
)


def _either(alternatives: str) -> str:
    return "|".join(phrases(alternatives))


_PASTED_NOUNS = """
    (?:e-?)?mails?|memos?|reports?|poems?|lyrics|abstracts?|chapters?|letters?|texts?|articles?|messages?|documents?|logs?|errors?|outputs?|transcripts?
    code|snippets?|conversations?|essays?|posts?|reviews?|stor(?:y|ies)|paragraphs?|passages?
    excerpts?|quotes?|resume|cv|bio|notes|below|following|prompt|input|question|description
    brief|nachricht|artikel|folgende[nrsm]?|unten|dokument|fehlermeldung
    courriel|texte|suivante?|ci-dessous|message|lettre
    correo|texto|siguiente|mensaje|artículo|carta|abajo
    testo|seguente|messaggio|seguinte|mensagem|tekst|volgende|bericht|следующ\\w+|письмо|текст
"""
_PASTED_CJK = "邮件|文章|以下|下面|信件|消息|文本|メール|以下|文章|記事|이메일|다음|글|메시지"
# Asked for over a text, which then stands in the same message.
_TEXT_TASKS = """
    summari[sz]e|translate|proofread|rewrite|rephrase|paraphrase|correct|polish|shorten
    spell-?check|übersetze?n?|fasse?|korrigiere?n?|umschreiben|tradui[stz]\\w*|résume\\w*|corrige\\w*
    reformule\\w*|traduce\\w*|resume\\w*|reescribe\\w*|traduci|riassumi|correggi|traduza|resuma
    vertaal|vat|översätt|sammanfatta|käännä|tiivistä|przetłumacz|popraw|переведи\\w*|исправь\\w*
"""
_OTHER_TASKS = """
    edit|improve|explain|analy[sz]e|review|reply|respond|answer|debug|fix|classify|extract|convert
    continue|complete|grade|critique|format|simplify|act as|pretend|imagine
    verbessere?n?|erkläre?n?|améliore\\w*|mejora\\w*
"""
_TASKS_CJK = "翻译|总结|改写|润色|翻訳|要約|添削|번역|요약"
_NOUN = re.compile(rf"\b(?:{_either(_PASTED_NOUNS)})\b|{_PASTED_CJK}", re.IGNORECASE)
_TASK = re.compile(rf"\b(?:{_either(_TEXT_TASKS + _OTHER_TASKS)})\b|{_TASKS_CJK}", re.IGNORECASE)
_POLITE = (
    r"(?:please|pls|can you|could you|would you|kindly|bitte|kannst du|können sie|peux-tu"
    r"|pouvez-vous|s'il te plaît|por favor|puedes|请|請)"
)
_OPENS_WITH_TEXT_TASK = re.compile(
    rf"[\s*#>,;—-]*(?:{_POLITE}[\s,]+){{0,2}}(?:(?:{_either(_TEXT_TASKS)})\b|{_TASKS_CJK})",
    re.IGNORECASE,
)
_OPENS_WITH_TASK = re.compile(
    rf"[\s*#>,;—-]*(?:{_POLITE}[\s,]+){{0,2}}(?:{_either(_OTHER_TASKS)})\b", re.IGNORECASE
)
_COLON = re.compile(r":(?!//|\d)|：")
_POINTS_BACK = re.compile(
    r"\b(?:above|previous|this|that|oben|dies\w*|ci-dessus|ceci|arriba|esto|questo|acima|isto)\b"
    r"|上面|上述|これ|上記|위",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?![ \t]*(?:\n|\Z)))*")


def typed_spans(content: str) -> list[Span]:
    """Half-open ranges of the message that its sender typed himself, in order."""
    if len(content) > LONG_MESSAGE:
        return []
    spans, position = [], 0
    for start, end in sorted(_foreign(content)):
        if content[position:start].strip():
            spans.append((position, start))
        position = max(position, end)
    if content[position:].strip():
        spans.append((position, len(content)))
    return spans


def is_typed(content: str, start: int, end: int) -> bool:
    return any(first <= start < end <= last for first, last in typed_spans(content))


def tagged_blocks(content: str) -> Iterator[tuple[str, int, int]]:
    """Name and range of whatever stands between a tag and the last tag that closes it."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for tag in _TAG.finditer(content):
        name = tag[2].lower()
        if tag[1] and name in first:
            last[name] = tag.end()
        elif not tag[1]:
            first.setdefault(name, tag.start())
    for name, start in first.items():
        if name in last or name in _CONTAINERS:
            yield name, start, last.get(name, len(content))


def _foreign(content: str) -> Iterator[Span]:
    for pattern in (_FENCE, _INLINE_CODE, *_LINES):
        yield from (match.span() for match in pattern.finditer(content))
    yield from ((start, end) for _, start, end in tagged_blocks(content))
    for pattern in _QUOTATIONS:
        yield from (m.span() for m in pattern.finditer(content) if _is_long_quotation(m[0]))
    for pattern in _REST:
        if rest := pattern.search(content):
            yield rest.start(), len(content)
    yield from _mail_headers(content)
    yield from _long_paragraphs(content)
    yield from _after_lead_in(content)


def _is_long_quotation(quoted: str) -> bool:
    return len(words(quoted[:2000])) >= LONG_QUOTATION


def _mail_headers(content: str) -> Iterator[Span]:
    """Two header lines within three lines begin a mail that runs to the end."""
    position, seen = 0, -9
    first = 0
    for number, line in enumerate(content.splitlines(keepends=True)):
        if _HEADER.match(line):
            if number - seen <= 2:
                yield first, len(content)
                return
            seen, first = number, position
        position += len(line)


def _long_paragraphs(content: str) -> Iterator[Span]:
    for paragraph in _PARAGRAPH.finditer(content):
        if len(paragraph[0]) > LONG_PARAGRAPH or paragraph[0].count("\n") >= LONG_LIST:
            yield paragraph.span()


def _after_lead_in(content: str) -> Iterator[Span]:
    """ "Here is the mail: …", "Explain this" over a block, a block over "summarise this"."""
    position = 0
    for line in content.splitlines(keepends=True):
        after = position + len(line)
        colon = _COLON.search(line)
        if _OPENS_WITH_TEXT_TASK.match(line):
            yield position, len(content)
        elif colon and (_NOUN.search(line[: colon.start()]) or _TASK.search(line[: colon.start()])):
            yield position + colon.end(), len(content)
        elif _OPENS_WITH_TASK.match(line) and content[after:].strip():
            yield after, len(content)
        position = after
    paragraphs = list(_PARAGRAPH.finditer(content))
    if len(paragraphs) > 1 and _asks_about_the_rest(paragraphs[-1][0]):
        yield 0, paragraphs[-1].start()


def _asks_about_the_rest(paragraph: str) -> bool:
    return bool(_TASK.search(paragraph) and _POINTS_BACK.search(paragraph))
