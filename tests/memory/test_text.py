"""Text in any script: when it is the same, where a quote stands, which language it is in."""

import time
from random import Random

import pytest

from memory.text import (
    contains_quote,
    detect_language,
    find_quote,
    find_quotes,
    language_config,
    normalise,
    text_hash,
    tombstone_digest,
    words,
)

FAMILY = "👨\u200d👩\u200d👧"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user lives in Rome", "  the  USER lives\nin rome. "),
        ("The user’s rent is 1,250", "The user's rent is 1,250!"),
        ("“The user is vegan”", "The user is vegan"),
        ("1990–1995", "1990-1995"),
        ("The user is 5％ Finnish", "The user is 5% Finnish"),
        ("The user has a ﬁnch", "The user has a finch"),
        ("The user lives in Ro\u200bme", "The user lives in Rome"),
        ("Die Straße", "DIE STRASSE"),
        ("用户住在北京。", "用户住在北京"),
        ("「ユーザーは東京に住んでいる」", "ユーザーは東京に住んでいる"),
        ("ｶﾒﾗ", "カメラ"),
        ("المستخدم نباتي؟", "المستخدم نباتي"),
        ("כלב׃ שלום", "כלב׃  שלום"),
        ("The user loves ❤\ufe0f", "The user loves ❤"),
        ("می\u200cخواهم", "میخواهم"),
        ("Å", "A\u030a"),
        ("- The user has a cat", "The user has a cat"),
        ("a\ud800b", "ab"),
    ],
)
def test_it_takes_texts_for_the_same(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)
    assert text_hash(one) == text_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rent 1,250", "rent 1,350"),
        ("rent 1.5", "rent 15"),
        ("10² m", "102 m"),
        ("1½ cups", "11⁄2 cups"),
        ("CO₂", "CO3"),
        ("-5 degrees", "5 degrees"),
        (".5 litres", "5 litres"),
        ("5%", "5"),
        ("6'", '6"'),
        ("codes in C", "codes in C#"),
        ("codes in C", "codes in C++"),
        ("is vegan", "is not vegan"),
        ("don't", "dont"),
        ("Anna", "Hanna"),
        ("用户吃肉", "用户不吃肉"),
        ("用户有三只猫", "用户有两只猫"),
        ("ผู้ใช้กินเนื้อ", "ผู้ใช้ไม่กินเนื้อ"),
        ("МОСКВА", "MOCKBA"),
        ("раураl", "paypal"),
        ("ナイト", "ないと"),
        ("٥", "٦"),
        ("שלום", "שלומ"),
        (f"likes {SCOTLAND}", f"likes {ENGLAND}"),
        (f"likes {FAMILY}", "likes 👨👩👧"),
        ("...", "???"),
        ("ı", "i"),
        ("resume", "résumé"),
    ],
)
def test_it_keeps_texts_apart(one: str, other: str) -> None:
    assert text_hash(one) != text_hash(other)


@pytest.mark.parametrize(
    "text", ["The USER’S “rent”…", "10² ①", "ΣΊΣΥΦΟΣ", "İstanbul", FAMILY, "ﬃ ﷺ", "-5", "…", ""]
)
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_hashes_are_hexadecimal_sha256() -> None:
    assert len(text_hash("x")) == 64
    assert text_hash("x") == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"


@pytest.mark.parametrize(
    ("purged", "returning"),
    [
        ("The user lives in Rome", "the user, lives: in - rome!!"),
        ("The user has a rent of 1,250", "The user has a rent of 1250"),
        ("The user's cat", "The users cat"),
        ("用户 住在 北京", "用户住在北京。"),
        ("ユーザーは「東京」に住む", "ユーザーは東京に住む"),
        ("ผู้ใช้ อยู่ กรุงเทพ", "ผู้ใช้อยู่กรุงเทพ"),
        ("المستخدم، نباتي", "المستخدم نباتي"),
        ("The user liv\u200bes", "The user lives"),
    ],
)
def test_a_tombstone_recognises_a_text_that_comes_back(purged: str, returning: str) -> None:
    assert tombstone_digest(purged, b"secret") == tombstone_digest(returning, b"secret")


@pytest.mark.parametrize(
    ("purged", "other"),
    [
        ("weighs 7.5 kg", "weighs 75 kg"),
        ("codes in C", "codes in C#"),
        ("at -5 degrees", "at 5 degrees"),
        ("lives in Rome", "lives in Roma"),
        ("用户吃肉", "用户不吃肉"),
        ("!!!", "???"),
    ],
)
def test_a_tombstone_lets_other_texts_pass(purged: str, other: str) -> None:
    assert tombstone_digest(purged, b"secret") != tombstone_digest(other, b"secret")


def test_a_tombstone_means_nothing_without_its_secret() -> None:
    assert tombstone_digest("x", b"one") != tombstone_digest("x", b"two")
    assert tombstone_digest("x", b"k" * 200) != text_hash("x")
    with pytest.raises(ValueError, match="secret"):
        tombstone_digest("x", b"")


@pytest.mark.parametrize(
    ("message", "quote", "stands"),
    [
        ("I live in Rome.", "live in Rome", "live in Rome"),
        ("I live\n  in\tRome.", "live in Rome", "live\n  in\tRome"),
        ("I live in Rome", " I   live ", "I live"),
        ("I’m “vegan”, you know", 'I\'m "vegan"', "I’m “vegan”"),
        ("I'm vegan", "I’m vegan", "I'm vegan"),
        ("我 住在北京。", "住在北京", "住在北京"),
        ("ฉันอยู่กรุงเทพ", "อยู่กรุงเทพ", "อยู่กรุงเทพ"),
        ("أنا أعيش في القاهرة", "أعيش في القاهرة", "أعيش في القاهرة"),
        ("אני גר בתל אביב", "גר בתל אביב", "גר בתל אביב"),
        (f"We are {FAMILY}!", FAMILY + "!", None),
        ("😀 I live here", "live here", "live here"),
        ("a" * 5, "aa", "aa"),
    ],
)
def test_a_quote_is_found_where_it_stands(message: str, quote: str, stands: str | None) -> None:
    found = find_quote(message, quote)
    if stands is None:
        assert found is None
    else:
        assert found is not None
        assert message[slice(*found)] == stands
    assert contains_quote(message, quote) is (stands is not None)


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("I live in Rome", "I live in rome"),
        ("I live in Rome", "I lived in Rome"),
        ("I live in Rome", "I live, in Rome"),
        ("I live in Rome", ""),
        ("I live in Rome. ...", " \n "),
        ("I live in Rome. ...", "..."),
        ("I paid 1,250", "I paid 1250"),
        ("", "x"),
        ("我住在北京", "我住在 北京"),
    ],
)
def test_only_a_verbatim_quote_counts(message: str, quote: str) -> None:
    assert not contains_quote(message, quote)


def test_every_place_of_a_quote_is_found() -> None:
    assert list(find_quotes("yes, yes and yes", "yes")) == [(0, 3), (5, 8), (13, 16)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't pay €1,250!", ["don't", "pay", "€1,250"]),
        ("C++ and C# at -5 °C, 5%", ["c++", "and", "c#", "at", "-5", "c", "5%"]),
        ("我住在北京", ["我住", "住在", "在北", "北京"]),
        ("我爱NYC", ["我爱", "nyc"]),
        ("猫", ["猫"]),
        ("मैं दिल्ली में", ["मैं", "दिल्ली", "में"]),
        ("أعيش، في القاهرة", ["أعيش", "في", "القاهرة"]),
        ("", []),
    ],
)
def test_words_of_any_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_do_not_depend_on_the_script_of_what_follows() -> None:
    letters = [*map(chr, range(128)), *"abcXYZ0189 '.,^+#%-$ " * 6]
    picked = Random(1)
    for _ in range(5_000):
        text = "".join(picked.choices(letters, k=picked.randint(0, 14)))
        assert words(f"{text} ä") == [*words(text), "ä"], text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I live in Berlin", "en"),
        ("I'm vegan", "en"),
        ("I like 寿司", "en"),
        ("I moved to São Paulo", "en"),
        ("My dog is called Rex and he is three years old.", "en"),
        ("Ich wohne in Berlin", "de"),
        ("Je suis né à Paris en 1990", "fr"),
        ("Vivo en Madrid con mi familia", "es"),
        ("Abito a Roma con mia moglie", "it"),
        ("Moro em Lisboa há três anos", "pt"),
        ("Ik woon in Utrecht met mijn vrouw", "nl"),
        ("Jag bor i Göteborg med min fru", "sv"),
        ("Minulla on koira", "fi"),
        ("Gdzie mieszkasz?", "pl"),
        ("Я живу в Москве", "ru"),
        ("Я живу у Києві", "uk"),
        ("Tôi sống ở Hà Nội", "vi"),
        ("أعيش في القاهرة", "ar"),
        ("من در تهران زندگی می\u200cکنم", "fa"),
        ("אני גר בתל אביב", "he"),
        ("मैं दिल्ली में रहता हूँ", "hi"),
        ("我住在北京", "zh"),
        ("東京に住んでいます", "ja"),
        ("서울에 살아요", "ko"),
        ("ฉันอยู่กรุงเทพ", "th"),
        ("Ζω στην Αθήνα", "el"),
        ("", "und"),
        ("12345 !!!", "und"),
        ("ok", "und"),
        ("print('x')", "und"),
    ],
)
def test_the_language_of_short_texts(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("en", "english"),
        ("DE", "german"),
        ("pt-BR", "portuguese"),
        ("nb", "norwegian"),
        ("yi", "yiddish"),
        ("zh", "simple"),
        ("ja", "simple"),
        ("th", "simple"),
        ("he", "simple"),
        ("und", "simple"),
        ("", "simple"),
        ("'; drop table", "simple"),
    ],
)
def test_what_postgres_calls_a_language(code: str, name: str) -> None:
    assert language_config(code) == name


@pytest.mark.parametrize("text", ["a " * 50_000, "“" * 100_000, "\u0301" * 100_000, "住" * 100_000])
def test_long_texts_take_no_longer_than_their_length(text: str) -> None:
    started = time.process_time()
    normalise(text), tombstone_digest(text, b"k"), detect_language(text)
    find_quote(text, text[:1000]), words(text)
    assert time.process_time() - started < 5  # quadratic work would take minutes
