"""What an owner typed, and which dates were left relative."""

import time

import pytest

from memory.text import has_relative_date, is_typed, relative_date, typed_spans
from memory.text.typed import LONG_MESSAGE, LONG_PARAGRAPH, tagged_blocks

FACT = "I moved to Oslo on 3 May"


def typed(content: str, quote: str = FACT) -> bool:
    start = content.index(quote)
    return is_typed(content, start, start + len(quote))


@pytest.mark.parametrize(
    "content",
    [
        FACT,
        f"Hi! {FACT}. What now?",
        f"{FACT} and it is great.\n\nCan you help me find a school?",
        f"```\ncode\n```\n{FACT}",
        f"> what did you do?\n{FACT}",
        f"<document>\nx\n</document>\n{FACT}",
        f'My cat "Rex" came along when {FACT}',
        f"I read “The Lord of the Rings” when {FACT}",
        f"See https://example.org/a and {FACT}",
        f"At 10:30 {FACT}",
        f"use List<String> there. {FACT}",
        f"I have 3 < 4 apples. {FACT}",
        f"{FACT}\n\nHere's the email:\nHi Bob\nI am away",
        f"Jag har 5' 6\" och {FACT}",
    ],
)
def test_it_was_typed(content: str) -> None:
    assert typed(content)


@pytest.mark.parametrize(
    "content",
    [
        f"```\n{FACT}\n```",
        f"~~~text\n{FACT}",
        f"look: `{FACT}`",
        f"> {FACT}",
        f"> hello\n  > {FACT}",
        f"&gt; {FACT}",
        f"| {FACT} | x |",
        f"<document>{FACT}</document>",
        f"<file name='a.txt'>\n{FACT}\n</file> thanks",
        f"<note>{FACT}</note>",
        f"<email>\nHi,\n{FACT}",
        f"<memory>{FACT}</memory>",
        f"<a>x</a> <A>{FACT}</A>",
        f"Here's the email: {FACT}",
        f"Here is the text:\n\nHi!\n\n{FACT}",
        f"My essay:\n{FACT}",
        f"See below:\n{FACT}",
        f"Hier ist die Nachricht: {FACT}",
        f"Voici le texte : {FACT}",
        f"Este es el correo: {FACT}",
        f"Вот письмо: {FACT}",
        f"请看以下邮件：{FACT}",
        f"Translate to French: {FACT}",
        f"Please translate {FACT}",
        f"Summarize this\n\n{FACT}",
        f"Could you proofread {FACT}",
        f"Explain this\n{FACT}",
        f"Übersetze ins Deutsche: {FACT}",
        f"翻译：{FACT}",
        f"{FACT}\n\nSummarize the text above.",
        f"{FACT}\n\nCan you explain this?",
        f"From: Bob\nTo: me\nSubject: news\n\n{FACT}",
        f"Von: Bob\nBetreff: Neues\n\n{FACT}",
        f"On Mon, 3 May 2024 at 10:12, Bob wrote:\n{FACT}",
        f"Am 3. Mai 2024 schrieb Bob:\n{FACT}",
        f"-----Original Message-----\n{FACT}",
        f"Begin forwarded message:\n{FACT}",
        f"User: hi\n{FACT}",
        f"Here it goes\nAssistant: ok\n{FACT}",
        f"[10:32] Bob: {FACT}",
        f"2024-05-03 10:32:01 {FACT}",
        f"5/3/24, 10:32 - Bob: {FACT}",
        f'He said "when {FACT} the weather was lovely"',
        f"Er sagte „als {FACT} war das Wetter schön“",
        f"Il a dit « quand {FACT} il faisait beau »",
        f'"Dear Sir,\n\n{FACT}, so I can\'t come."',
        f"He wrote:\n\n{'lorem ipsum dolor ' * 60}{FACT}",
        "\n".join([*["line"] * 16, FACT]),
        f"{FACT} {'x' * LONG_MESSAGE}",
        f"<div class='x'>{FACT}</div>",
        f"print(1)\n>>> {FACT}",
        f"$ echo {FACT}",
    ],
)
def test_it_was_pasted_quoted_or_made_by_a_program(content: str) -> None:
    assert not typed(content)


@pytest.mark.parametrize(
    ("content", "quote", "expected"),
    [
        ("我昨天去了北京。「这是一段非常长的引用文本」他说", "我昨天去了北京", True),
        ("我昨天去了北京。「这是一段非常长的引用文本」他说", "非常长的引用", False),
        ("私は猫が好きです。『吾輩は猫である』を読んだ", "『吾輩は猫である』", False),
        ("أنا أعيش في القاهرة", "أعيش في القاهرة", True),
        ("> أنا أعيش في القاهرة", "أعيش في القاهرة", False),
        ("אני גר בתל אביב", "גר בתל אביב", True),
        ("```\nאני גר בתל אביב\n```", "גר בתל אביב", False),
        ("ฉันอยู่กรุงเทพ", "อยู่กรุงเทพ", True),
    ],
)
def test_typed_text_in_other_scripts(content: str, quote: str, expected: bool) -> None:
    assert typed(content, quote) is expected


def test_spans_part_a_message_into_what_is_typed_and_what_is_not() -> None:
    content = "Hello.\n```\ncode\n```\nI live here.\n> quoted\nBye."
    assert [content[start:end] for start, end in typed_spans(content)] == [
        "Hello.\n",
        "\nI live here.\n",
        "\nBye.",
    ]
    assert typed_spans("") == []
    assert not is_typed("abc", 2, 2)


def test_a_quote_half_in_and_half_out_was_not_typed() -> None:
    assert not typed("I moved `to Oslo` on 3 May", "I moved `to Oslo`")


def test_long_paragraphs_are_taken_for_pasted() -> None:
    assert typed(f"{'word ' * 100}{FACT}")
    assert not typed(f"{'word ' * (LONG_PARAGRAPH // 5)}{FACT}")


def test_blocks_run_to_the_last_closing_tag() -> None:
    content = "<memory>a</memory> b <memory>c</memory> d"
    assert [content[start:end] for _, start, end in tagged_blocks(content)] == [
        "<memory>a</memory> b <memory>c</memory>"
    ]


@pytest.mark.parametrize(
    ("language", "statement", "word"),
    [
        ("en", "The user went to the gym yesterday.", "yesterday"),
        ("en", "Yesterday the user moved.", "Yesterday"),
        ("en", "The user will go the day after tomorrow.", "tomorrow"),
        ("en", "The user starts a job next week.", "next week"),
        ("en", "The user met Bob last Friday.", "last Friday"),
        ("en", "The user moved two days ago.", "days ago"),
        ("en", "The user flies to Rome tonight.", "tonight"),
        ("en", "The user bought a car this morning.", "this morning"),
        ("en", "The user's flight is today.", "today"),
        ("de", "Der Nutzer war gestern in Bonn.", "gestern"),
        ("de", "Morgen fährt der Nutzer weg.", "Morgen"),
        ("de", "Der Nutzer fährt heute Morgen weg.", "heute"),
        ("de", "Der Nutzer fährt morgen weg.", "morgen"),
        ("de", "Der Nutzer kam letzte Woche an.", "letzte Woche"),
        ("fr", "L’utilisateur est arrivé hier.", "hier"),
        ("fr", "Il part la semaine prochaine.", "semaine prochaine"),
        ("fr", "Il a déménagé il y a deux jours.", "il y a deux jours"),
        ("es", "El usuario viaja mañana.", "mañana"),
        ("es", "El usuario llegó ayer.", "ayer"),
        ("it", "L'utente è arrivato due giorni fa.", "giorni fa"),
        ("pt", "O usuário viajou ontem.", "ontem"),
        ("nl", "De gebruiker vertrekt morgen.", "morgen"),
        ("sv", "Användaren flyttade i går.", "i går"),
        ("da", "Brugeren rejser i morgen.", "i morgen"),
        ("nb", "Brukeren reiste i går.", "i går"),
        ("fi", "Käyttäjä muutti eilen.", "eilen"),
        ("fi", "Käyttäjä matkustaa huomenna.", "huomenna"),
        ("pl", "Użytkownik przyjechał dwa tygodnie temu.", "tygodnie temu"),
        ("cs", "Uživatel přijel včera.", "včera"),
        ("ru", "Пользователь переехал на прошлой неделе.", "на прошлой неделе"),
        ("ru", "Вчера пользователь переехал.", "Вчера"),
        ("uk", "Користувач переїхав учора.", "учора"),
        ("tr", "Kullanıcı dün taşındı.", "dün"),
        ("vi", "Người dùng đi Huế hôm qua.", "hôm qua"),
        ("id", "Pengguna pindah minggu lalu.", "minggu lalu"),
        ("zh", "用户昨天搬家了", "昨天"),
        ("zh", "用户三天前搬家了", "三天前"),
        ("ja", "ユーザーは明日東京へ行く", "明日"),
        ("ja", "ユーザーは昨日引っ越した", "昨日"),
        ("ko", "사용자는 어제 이사했다", "어제"),
        ("ko", "사용자는 내일 떠난다", "내일"),
        ("th", "ผู้ใช้ย้ายบ้านเมื่อวานนี้", "เมื่อวาน"),
        ("ar", "وصل المستخدم أمس", "أمس"),
        ("ar", "سافر المستخدم الأسبوع الماضي", "الأسبوع الماضي"),
        ("fa", "کاربر دیروز آمد", "دیروز"),
        ("he", "המשתמש הגיע אתמול", "אתמול"),
        ("he", "המשתמש עבר בשבוע שעבר", "שבוע שעבר"),
        ("hi", "उपयोगकर्ता कल दिल्ली गया", "कल"),
        ("el", "Ο χρήστης ήρθε χθες", "χθες"),
        ("fi", "用户昨天搬家了", "昨天"),
        ("und", "The user moved yesterday.", "yesterday"),
    ],
)
def test_a_date_was_left_relative(language: str, statement: str, word: str) -> None:
    assert relative_date(statement, language) == word


@pytest.mark.parametrize(
    ("language", "statement"),
    [
        ("en", 'The user likes the song "Yesterday" by the Beatles.'),
        ("en", "The user likes Yesterday by the Beatles."),
        ("en", "The user reads USA Today."),
        ("en", "The user's favourite film is ‘Tomorrow’."),
        ("en", "The user finished the book in two weeks."),
        ("en", "The user currently works at Acme."),
        ("en", "The user works Monday to Friday."),
        ("en", "The user swims every Monday."),
        ("en", "The user was in the last year of school in 2019."),
        ("en", "The user moved yesterday (7 May 2023)."),
        ("en", "The user has lived in Rome for two years."),
        ("en", "The user was born on 3 May 1990."),
        ("de", "Der Nutzer heißt Morgenstern."),
        ("de", "Der Nutzer joggt jeden Morgen."),
        ("de", "Der Nutzer joggt morgens."),
        ("de", "Der Nutzer wohnt hier."),
        ("es", "El usuario corre por la mañana."),
        ("es", "Hoy en día el usuario es vegano."),
        ("nl", "De gebruiker rent in de morgen."),
        ("ru", "Пользователь любит завтрак."),
        ("ja", "ユーザーの友人は明日香という名前だ"),
        ("ko", "오늘날 사용자는 채식주의자다"),
        ("zh", "用户喜欢歌曲《明天会更好》"),
        ("zh", "用户是素食者"),
        ("th", "ผู้ใช้ชอบกาแฟ"),
        ("he", "המשתמש עובד כל היום"),
        ("he", "למשתמש יש מחרוזת"),
        ("ar", "استراح المستخدم في اليوم التالي"),
        ("hi", "उपयोगकर्ता को कला पसंद है"),
        ("sv", "Användaren bor i Morgongåva"),
        ("", ""),
    ],
)
def test_every_date_can_be_read_later(language: str, statement: str) -> None:
    assert not has_relative_date(statement, language)


@pytest.mark.parametrize(
    "seed",
    [
        "`",
        '"',
        "“",
        "<a ",
        "<",
        ": ",
        "On Mon ",
        "\n",
        "> ",
        "please ",
        "From:\n",
        "in 2 ",
        "last ",
    ],
)
def test_no_text_makes_it_slow(seed: str) -> None:
    text = (seed * 100_000)[:100_000]
    started = time.process_time()
    typed_spans(text), typed_spans(text[: LONG_MESSAGE - 1]), list(tagged_blocks(text))
    relative_date(text, "en"), relative_date(text, "fr")
    assert time.process_time() - started < 5
