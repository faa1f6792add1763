"""Is there a date left in a statement that only meant something on the day it was said?

Tables of words by language. Scripts that only a few languages share are always looked for; Latin
and Cyrillic words by the statement's language, because "hier" is yesterday in French and here in
German. Durations ("for two years") and recurrences ("every Monday") are not dates.
"""

import re
from functools import cache

from memory.text.lists import phrases

_READ = 4000  # characters of a statement that are looked at; statements have at most 500

# One regular expression a line; words are matched whole, in any case unless said otherwise.
_WORDS = {
    "en": r"""
        yesterday(?:'s)?(?!\s+and\s+today)|tomorrow(?:'s)?|tonight(?:'s)?|overmorrow
        today(?:'s)?(?!'?s?\s+(?:world|youth|society|standards))
        (?:this|last|next|past|coming|upcoming)\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day
        (?:last|next|this\s+(?:past|coming))\s+(?:week|month|year|night|quarter|weekend)(?!\s+of\b|-)
        (?:last|next)\s+(?:spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december)
        this\s+(?:week|month|year|morning|afternoon|evening|weekend|quarter|spring|summer|autumn|winter)(?!ly)
        (?:week|month|year)\s+(?:after\s+next|before\s+last)
        (?:second|minute|hour|day|week|fortnight|month|year|decade)s?\s+ago
        (?:day|night)\s+before\s+last|(?:days?|weeks?|months?|years?)\s+from\s+now
        (?:will|going\s+to|plans?\s+to|due|starts?|begins?|expects?|is\s+\w+ing)\b[^.;]{0,120}?\bin\s+(?:an?|one|two|three|four|five|six|seven|ten|\d{1,3}|a\s+few|a\s+couple\s+of)\s+(?:day|week|month|year|hour)s?(?:'\s+time)?
    """,
    "de": r"""
        gestern|vorgestern|übermorgen|heute|gestrige[nrsm]?|heutige[nrsm]?|morgige[nrsm]?
        (?:letzte|vorige|vergangene|nächste|kommende|diese)[nrsm]?\s+(?:woche|monats?|jahr(?:es)?|nacht|wochenende|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)
        vor\s+(?:\w+\s+){1,2}(?:tag|tagen|woche|wochen|monat|monaten|jahr|jahren|stunden?)
        in\s+(?:\d+|ein(?:em|er)|zwei|drei|vier|wenigen|ein\s+paar)\s+(?:tagen|wochen?|monat(?:en)?|stunden?)
    """,
    "nl": r"""
        gisteren|eergisteren|vandaag|overmorgen|vanavond|vannacht|vanmorgen|vanmiddag
        (?<!in\ de\ )(?<!elke\ )(?<!iedere\ )(?<!'s\ )morgen(?!\s*stond)
        (?:vorige|volgende|afgelopen|komende|deze)\s+(?:week|maand|jaar|weekend|nacht)
        (?:\w+\s+)(?:dag(?:en)?|we(?:ek|ken)|maand(?:en)?|jaar|uur)\s+geleden
    """,
    "fr": r"""
        hier|avant-hier|demain|après-demain|aujourd'hui|ce\s+(?:matin|soir|mois|week-end)|cette\s+(?:nuit|semaine|année)
        (?:semaine|année|mois|week-end|an|nuit|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\s+(?:derni(?:er|ère)|prochaine?|passée?)
        il\s+y\s+a\s+(?:\w+\s+){1,2}(?:jours?|semaines?|mois|ans?|heures?)
        dans\s+(?:un|une|deux|trois|quatre|quelques|\d+)\s+(?:jours?|semaines?|mois)
    """,
    "es": r"""
        ayer|anteayer|antier|anoche|pasado\s+mañana|hoy(?!\s+en\s+día)|esta\s+(?:noche|mañana|tarde|semana)|este\s+(?:mes|año|fin\s+de\s+semana)
        (?<!la\ )(?<!una\ )(?<!cada\ )(?<!las\ )(?<!esta\ )(?<!pasado\ )mañana
        (?:semana|mes|año|noche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\s+(?:pasad[oa]|que\s+viene|próxim[oa])
        (?:próxim[oa]|pasad[oa])\s+(?:semana|mes|año|lunes|martes|miércoles|jueves|viernes|sábado|domingo)
        hace\s+(?:\w+\s+){1,2}(?:días?|semanas?|mes(?:es)?|años?|horas?)(?!\s+que)
    """,
    "pt": r"""
        ontem|anteontem|amanhã|hoje(?!\s+em\s+dia)|esta\s+(?:noite|semana)|este\s+(?:mês|ano)
        (?:semana|mês|ano|noite)\s+(?:passad[oa]|que\s+vem|próxim[oa])|próxim[oa]\s+(?:semana|mês|ano)
        (?:dias?|semanas?|mes(?:es)?|anos?|horas?)\s+atrás
    """,
    "it": r"""
        ieri|l'altro\s+ieri|avantieri|domani|dopodomani|stasera|stanotte|stamattina
        (?<!d')(?<!giorno\ d'\ )oggi(?!\s+come\s+oggi)|quest[aoe']\s*(?:settimana|mese|anno|sera)
        (?:settimana|mese|anno|notte|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)\s+(?:scors[oa]|prossim[oa])
        (?:prossim[oa]|scors[oa])\s+(?:settimana|mese|anno)
        (?:giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|or[ae])\s+fa
    """,
    "ro": r"""
        ieri|mâine|poimâine|astăzi|azi|diseară
        (?:săptămâna|luna|anul)\s+(?:trecută?|viitoare|viitor)
    """,
    "ca": r"ahir|demà|avui|anit|(?:setmana|mes|any)\s+(?:passada?|vinent|que\s+ve)",
    "sv": r"""
        igår|i\s+går|förrgår|i\s+förrgår|imorgon|i\s+morgon|övermorgon|i\s+övermorgon|idag|i\s+dag|ikväll|i\s+kväll|inatt|i\s+natt
        (?:förra|nästa|denna)\s+(?:veckan?|månad(?:en)?|år(?:et)?|helg(?:en)?)
        för\s+(?:\w+\s+){1,2}(?:dagar|dag|veckor|vecka|månader|månad|år|timmar)\s+sedan
        om\s+(?:en|ett|två|tre|några|\d+)\s+(?:dagar|veckor|vecka|månader|månad)
    """,
    "da": r"""
        i\s+går|i\s+forgårs|i\s+morgen|i\s+overmorgen|i\s+dag|i\s+aften|i\s+aftes|i\s+nat
        (?:sidste|næste|forrige|neste|denne)\s+(?:uge|uke|måned|år|weekend)
        for\s+(?:\w+\s+){1,2}(?:dage?r?|uger?|uker?|måneder?|år)\s+siden
    """,
    "fi": r"""
        eilen|toissapäivänä|huomenna|ylihuomenna|tänään|tänä\s+(?:iltana|aamuna|yönä|vuonna|viikonloppuna)|tällä\s+viikolla
        eilis\w+|huomis\w+|viime\s+(?:viiko\w+|kuussa|kuun|vuonna|vuoden|yönä|viikonlo\w+)|ensi\s+(?:viiko\w+|kuussa|vuonna|yönä|viikonlo\w+|kesänä|talvena)
        (?:päivää?|viikkoa?|kuukautta|kuukausi|vuotta|vuosi|tuntia?)\s+sitten
    """,
    "et": r"eile|homme|täna|üleeile|ülehomme|(?:eelmisel|järgmisel)\s+(?:nädalal|kuul|aastal)",
    "pl": r"""
        wczoraj|przedwczoraj|jutro|pojutrze|dziś|dzisiaj|(?:zeszł|przyszł|ubiegł|następn)(?:ym|ego|ej|y|ą)\s+(?:tygodni\w+|miesiąc\w*|miesiącu|roku|rok)
        (?:dni|dzień|tydzień|tygodni[ae]?|tygodni|miesi\w+|lat\w*|rok)\s+temu
    """,
    "cs": r"""
        včera|předevčírem|zítra|pozítří|dnes
        (?:minul|příšt)\w+\s+(?:týden|týdnu|měsíc|měsíci|rok|roce)
    """,
    "sk": r"včera|zajtra|dnes|(?:minul|budúc)\w+\s+(?:týždeň|mesiac|rok)",
    "hr": r"jučer|sutra|danas|prekjučer|prošl\w+\s+(?:tjed\w+|mjesec\w*|godin\w+)",
    "hu": r"tegnap|tegnapelőtt|holnap|holnapután|ma|(?:múlt|jövő)\s+(?:héten|hónapban|évben)",
    "tr": r"""
        dün|evvelsi\s+gün|yarın|bugün|bu\s+(?:gece|akşam|sabah|hafta)|geçen\s+(?:hafta|ay|yıl|sene|gece)|(?:gelecek|önümüzdeki|haftaya)\s+(?:hafta|ay|yıl|sene)
        (?:gün|hafta|ay|yıl|saat)\s+önce
    """,
    "vi": r"""
        hôm\s+qua|hôm\s+kia|ngày\s+mai|ngày\s+kia|hôm\s+nay|tối\s+nay|tối\s+qua
        (?:tuần|tháng)\s+(?:trước|sau|tới|này)|năm\s+(?:ngoái|sau|tới|nay)
    """,
    "id": r"""
        kemarin|besok|lusa|hari\s+ini|malam\s+ini
        (?:minggu|bulan|tahun)\s+(?:lalu|depan|ini)|(?:hari|minggu|bulan|tahun)\s+yang\s+lalu
    """,
    "ru": r"""
        вчера|позавчера|завтра|послезавтра|сегодня|вчерашн\w+|завтрашн\w+|сегодняшн\w+
        (?:на|в)\s+(?:прошл|следующ|будущ|эт|минувш)\w+\s+(?:недел\w+|месяц\w*|год\w*|выходн\w+)
        (?:день|дня|дней|недел\w+|месяц\w*|год|года|лет|час\w*)\s+назад
        через\s+(?:\w+\s+)?(?:день|дня|дней|недел\w+|месяц\w*)
    """,
    "uk": r"""
        вчора|учора|позавчора|завтра|післязавтра|сьогодні
        (?:минул|наступн|цього)\w*\s+(?:тиж\w+|місяц\w+|ро\w+)|(?:дні|днів|тиж\w+|місяц\w+|рок\w+)\s+тому
    """,
    "bg": r"вчера|завчера|утре|днес|(?:миналата|следващата)\s+(?:седмица|година)",
    "sr": r"јуче|сутра|данас|прошл\w+\s+(?:недељ\w+|месец\w*|годин\w+)",
}  # fmt: skip
_WORDS |= {"no": _WORDS["da"], "nb": _WORDS["da"], "nn": _WORDS["da"], "ms": _WORDS["id"]}

# Looked for in every statement; word ends are spelled out where a longer word is innocent.
_EVERYWHERE = r"""
    昨天|前天|明天|今天|今晚|昨晚|昨夜|上周|下周|上週|下週|上个?月|下个?月|上個月|下個月|去年|明年|今年|上星期|下星期|本周|这周|這週
    (?<!先天)(?<!是)后天(?![性的习免形])|(?<!先天)後天(?![性的])|[几幾\d一二两兩三四五六七八九十]+(?:个|個)?(?:天|周|週|星期|月|年)[之以]?前(?!半)
    一昨日|昨日|明日(?![香菜葉海奈美花])|明後日|今日(?!子)|今朝|今夜|今晩|先週|来週|今週|先月|来月|今月|来年|昨年|一昨年|[\d一二三四五六七八九十数]+(?:日|週間|か月|ヶ月|年)前
    (?<![가-힣])(?:어제|그저께|엊그제|내일|모레(?![노티])|오늘(?!날)|오늘밤|어젯밤|지난\s?(?:주|달|해|밤)|다음\s?(?:주|달|해)|작년|내년|올해)|(?:일|주|달|개월|년)\s전(?![가-힣]*쟁)
    เมื่อวาน|เมื่อวานซืน|พรุ่งนี้|มะรืน|วันนี้|เมื่อคืน|คืนนี้|(?:สัปดาห์|อาทิตย์|เดือน|ปี)(?:ที่แล้ว|หน้า|ก่อน|นี้)|(?:วัน|สัปดาห์|เดือน|ปี)ก่อน
    (?<!\w)(?:و|ب|ل)?(?:أمس|البارحة|غدا|غدًا|غداً|بعد\sغد)(?!\w)|(?<!في\s)(?<!ذلك\s)(?<!هذا\s)(?<!\w)اليوم(?!\w)(?!\s(?:التالي|الأول|الثاني|الأخير|السابق|الذي|الواحد|الدراسي))|هذا\sاليوم
    (?:الأسبوع|الشهر|العام|الليلة)\s(?:الماضي|القادم|المقبل|الفائت)|(?:السنة|الليلة)\s(?:الماضية|القادمة|المقبلة|الفائتة)|(?:قبل|منذ)\s(?:يوم(?:ين)?|أسبوع(?:ين)?|شهر(?:ين)?|\w+\s(?:أيام|أسابيع|أشهر))(?!\w)
    (?<![א-ת])[בהלמשו]{0,2}(?:אתמול|שלשום|מחר|מחרתיים)(?![א-ת])|(?<!כל\s)(?<![א-ת])היום(?![א-ת])(?!\s(?:יום|הראשון|האחרון|שבו|הולדת))|(?:שבוע|חודש|שנה)\s(?:שעברה?|הבאה?)|לפני\s(?:יומיים|שבוע|שבועיים|חודש|חודשיים|(?:\w+\s)(?:ימים|שבועות|חודשים))(?![א-ת])
    (?<![ऀ-ॿ])(?:कल|परसों|आज|पिछल[ेीा]\s(?:हफ़?्ते|सप्ताह|महीने|साल)|अगल[ेीा]\s(?:हफ़?्ते|सप्ताह|महीने|साल))(?![ऀ-ॿ])(?!\sकल)
    (?<!\w)(?:دیروز|پریروز|فردا|پس‌فردا|امروز|امشب|دیشب|هفته\s(?:گذشته|آینده)|ماه\s(?:گذشته|آینده)|سال\s(?:گذشته|آینده))(?!\w)
    (?<!\w)(?:χθες|χτες|προχθές|αύριο|μεθαύριο|σήμερα|απόψε)(?!\w)
"""  # fmt: skip

# Titles and names: what stands in quotation marks, or with a date in brackets right behind it.
_QUOTED = re.compile(
    '"[^"]{0,200}"|“[^”]{0,200}”|„[^“”]{0,200}[“”]|«[^»]{0,200}»|《[^》]{0,200}》|〈[^〉]{0,200}〉'
    "|「[^」]{0,200}」|『[^』]{0,200}』|‘[^’]{0,200}’(?!\\w)|(?<!\\w)'[^']{0,200}'(?!\\w)"
)
_DATED = re.compile(r"\s*[(（][^)）]{0,40}\d[^)）]{0,40}[)）]")
_SENTENCE_START = re.compile(r"(?:\A|[.!?…:;—]\s+|\n\s*)[\"'“«(]*\Z")
_LATIN_WORD = re.compile(r"[A-ZÀ-ÞА-Я]")


def has_relative_date(statement: str, language: str) -> bool:
    return relative_date(statement, language) is not None


def relative_date(statement: str, language: str) -> str | None:
    """The first such word, as it stands there; None where every date can be read later."""
    text = _QUOTED.sub(lambda m: "_" * len(m[0]), statement[:_READ].replace("’", "'"))
    for pattern in (_pattern_of(language), _pattern_of("en"), _everywhere()):
        for match in pattern.finditer(text):
            if not _is_innocent(text, match):
                return match[0]
    return _german_tomorrow(text) if language == "de" else None


def _is_innocent(text: str, match: re.Match[str]) -> bool:
    """Part of a name (capital inside a sentence: USA Today, Thomas Gestern), or dated behind."""
    if _DATED.match(text, match.end()):
        return True
    begins = _SENTENCE_START.search(text[: match.start()])
    return bool(_LATIN_WORD.match(match[0])) and not begins


def _german_tomorrow(text: str) -> str | None:
    """The small word is tomorrow, the capital one the morning, unless it opens the sentence."""
    for match in re.finditer(r"(?<!\w)(?:morgen|Morgen)(?!\w)", text):
        begins = _SENTENCE_START.search(text[: match.start()])
        if (match[0] == "morgen" or begins) and not _DATED.match(text, match.end()):
            return match[0]
    return None


@cache
def _pattern_of(language: str) -> re.Pattern[str]:
    table = _WORDS.get(language.split("-")[0], "")
    alternatives = "|".join(phrases(table)) or r"(?!)"
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?!\w)", re.IGNORECASE)


@cache
def _everywhere() -> re.Pattern[str]:
    return re.compile("|".join(phrases(_EVERYWHERE)))
