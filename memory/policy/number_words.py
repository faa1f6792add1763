"""Numbers, months and weekdays under one name each, whatever the language or digits."""

import re

_DIGITS = re.compile(r"[^\d]*(\d[\d.,'’]*)")

# A row per number or date word: the name, then how the supported languages write it.
_TABLE = """
    1 one eins uno um jeden один одна один bir satu eine-einzige 一 واحد אחד एक
    2 two zwei deux dos due dois duas twee två to kaksi dwa dwie два две dva iki hai dua 二 两 兩 اثنان שניים שתי दो both twice
    3 three drei trois tres tre três drie kolme trzy три tri üç tiga 三 ثلاثة ثلاث שלושה שלוש तीन thrice
    4 four vier quatre cuatro quattro quatro fyra fire neljä cztery четыре чотири čtyři dört bốn empat 四 أربعة أربع ארבעה ארבע चार
    5 five fünf cinq cinco cinque vijf fem viisi pięć пять п'ять pět beş năm lima 五 خمسة خمس חמישה חמש पाँच पांच
    6 six sechs seis sei zes sex seks kuusi sześć шесть шість altı sáu enam 六 ستة ست שישה שש छह
    7 seven sieben sept siete sette sete zeven sju syv seitsemän siedem семь сім yedi bảy tujuh 七 سبعة سبع שבעה שבע सात
    8 eight acht huit ocho otto oito åtta åtte otte kahdeksan osiem восемь вісім sekiz tám delapan 八 ثمانية שמונה आठ
    9 nine neun neuf nueve nove negen nio ni yhdeksän dziewięć девять дев'ять dokuz chín sembilan 九 تسعة תשעה תשע नौ
    10 ten zehn dix diez dieci dez tien tio ti kymmenen dziesięć десять on mười sepuluh 十 عشرة עשרה עשר दस
    11 eleven elf onze once undici elva elleve yksitoista jedenaście одиннадцать
    12 twelve zwölf douze doce dodici doze twaalf tolv kaksitoista dwanaście двенадцать dozen
    20 twenty zwanzig vingt veinte venti vinte twintig tjugo kaksikymmentä dwadzieścia двадцать
    30 thirty dreißig dreissig trente treinta trenta trinta dertig trettio kolmekymmentä trzydzieści тридцать
    100 hundred hundert cent cien ciento cento honderd hundra sata sto сто 百
    1000 thousand tausend mille mil duizend tusen tuhat tysiąc тысяча 千
    1000000 million
    half half halb demi medio mezzo
    month1 january januar janvier enero gennaio janeiro januari tammikuussa stycznia styczniu января январе ocak يناير ינואר
    month2 february februar février febrero febbraio fevereiro februari helmikuussa lutego lutym февраля феврале şubat فبراير פברואר
    month3 march märz mars marzo março maart maaliskuussa marca marcu марта марте mart مارس מרץ
    month4 april avril abril aprile huhtikuussa kwietnia kwietniu апреля апреле nisan أبريل אפריל
    month5 may mai mayo maggio maio mei maj toukokuussa maja maju мая мае mayıs مايو מאי
    month6 june juni juin junio giugno junho kesäkuussa czerwca czerwcu июня июне haziran يونيو יוני
    month7 july juli juillet julio luglio julho heinäkuussa lipca lipcu июля июле temmuz يوليو יולי
    month8 august août agosto augustus augusti elokuussa sierpnia sierpniu августа августе ağustos أغسطس אוגוסט
    month9 september septembre septiembre settembre setembro syyskuussa września wrześniu сентября сентябре eylül سبتمبر ספטמבר
    month10 october oktober octobre octubre ottobre outubro lokakuussa października październiku октября октябре ekim أكتوبر אוקטובר
    month11 november novembre noviembre novembro marraskuussa listopada listopadzie ноября ноябре kasım نوفمبر נובמבר
    month12 december dezember décembre diciembre dicembre dezembro joulukuussa grudnia grudniu декабря декабре aralık ديسمبر דצמבר
    day1 monday mondays montag montags lundi lunes lunedì maandag måndag mandag maanantaina poniedziałek понедельник pazartesi
    day2 tuesday tuesdays dienstag dienstags mardi martes martedì dinsdag tisdag tirsdag tiistaina wtorek вторник salı
    day3 wednesday wednesdays mittwoch mittwochs mercredi miércoles mercoledì woensdag onsdag keskiviikkona środa среда среду çarşamba
    day4 thursday thursdays donnerstag donnerstags jeudi jueves giovedì donderdag torsdag torstaina czwartek четверг perşembe
    day5 friday fridays freitag freitags vendredi viernes venerdì vrijdag fredag perjantaina piątek пятница пятницу cuma
    day6 saturday saturdays samstag samstags samedi sábado sabato zaterdag lördag lørdag lauantaina sobota sobotę суббота субботу cumartesi
    day7 sunday sundays sonntag sonntags dimanche domingo domenica zondag söndag søndag sunnuntaina niedziela niedzielę воскресенье pazar
"""  # noqa: E501 - a table reads by rows
_NAMES = {word: row.split()[0] for row in _TABLE.strip().splitlines() for word in row.split()[1:]}
_CJK_NUMERALS = re.compile("[二两兩三四五六七八九十百千]")


def number_in(word: str) -> str | None:
    """`word` is in normal form. 1,250 and 1250 are one number, 1.5 and 15 are two."""
    if digits := _DIGITS.match(word):
        return _plain(digits[1])
    if word in _NAMES:
        return _NAMES[word].removeprefix("month")
    if numeral := _CJK_NUMERALS.match(word):
        return _NAMES[numeral[0]]
    return None


def _plain(digits: str) -> str:
    """Separators of thousands go, the decimal point stays; leading zeros go (03 May)."""
    digits = re.sub(r"[.,'’](?=\d{3}(?:\D|$))", "", digits.strip(".,'’"))
    whole, _, fraction = digits.replace(",", ".").partition(".")
    as_ascii = "".join(str(int(char)) if char.isdecimal() else char for char in whole)
    plain = as_ascii.lstrip("0") or "0"
    return f"{plain}.{fraction}" if fraction.strip("0") else plain
