from datetime import UTC, datetime

import pytest

from memory.recall.query import READ, WHOLE, Query, as_facts_say, names_in, read
from memory.recall.sentences import TOPIC_READ, Topic

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def asked(message: str, *recent: str) -> Query:
    return read(message, recent, NOW)


@pytest.mark.parametrize(
    "message",
    [
        "Hello!",
        "hi",
        "Hey there, how are you?",
        "Good morning",
        "Hello, how are you doing today?",
        "Thanks, that's great!",
        "ok",
        "Thank you so much 🙏",
        "👍",
        "...",
        "",
        "   ",
        "Moi! Mitä kuuluu?",
        "Guten Morgen, wie geht es dir?",
        "Bonjour, ça va ?",
        "¡Hola! ¿Qué tal?",
        "Привет, как дела?",
        "你好！",
        "こんにちは",
        "안녕하세요!",
        "مرحبا",
        "\u200b",
        "Good job, see you tomorrow! 👋",
        "You're welcome. Talk to you later",
        "never mind",
        "Kiitos paljon! Nähdään huomenna",
        "Danke schön, bis morgen",
        "Grüß Gott",
        "Merci beaucoup, à demain !",
        "¡Hasta mañana!",
        "Tack så mycket",
        "Dzień dobry! Do jutra",
        "Teşekkürler, yarın görüşürüz",
        "Большое спасибо, до завтра",
        "شكرا جزيلا، أراك غدا",
        "תודה רבה",
        "धन्यवाद",
        "안녕하세요! 내일 봐요",
        "你好吗？谢谢你，明天见！",
        "ありがとうございました。また明日",
        "ขอบคุณมากค่ะ พรุ่งนี้เจอกัน",
        "Terima kasih, sampai besok",
        "Cảm ơn bạn",
    ],
)
def test_a_greeting_asks_for_nothing(message: str) -> None:
    assert asked(message).is_small_talk


@pytest.mark.parametrize(
    "message",
    [
        "where do I live",
        "what's my name?",
        "who am I",
        "good evening, where is my car",
        "Missä asun?",
        "我住在哪里",
        "ฉันอยู่ที่ไหน",
        "allergies",
        "am I vegetarian?",
        "1250",
        "what's tomorrow",
        "thank you, who do I see tomorrow?",
        "Bis morgen wohin?",
        "why?",
        "你好，我明天去哪里？",
        "明天",
        "ありがとう、明日は何がありますか",
        "สวัสดีครับ พรุ่งนี้ฉันไปไหน",
        "내일 뭐 해?",
    ],
)
def test_a_question_does_not_pass_for_a_greeting(message: str) -> None:
    assert not asked(message).is_small_talk


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("where do I live", "where does the user live"),
        ("Am I allergic to nuts?", "is the user allergic to nuts?"),
        ("What is my sister's name?", "What is the user's sister's name?"),
        ("I'm tired", "the user is tired"),
        ("tell me about mine", "tell the user about the user's"),
        ("Mine Kafon island", "the user's Kafon island"),
        ("Explain IPv4 and IBM", "Explain IPv4 and IBM"),
    ],
)
def test_it_speaks_of_the_owner_as_facts_do(message: str, said: str) -> None:
    assert as_facts_say(message) == said


def test_names_are_runs_of_words_in_normal_form() -> None:
    names = names_in("Did Anna-Maria's friend meet New York City (Bob)?")
    assert {"anna-maria", "anna-maria's", "new york city", "bob", "new york"} <= set(names)
    assert "did" not in names


def test_names_are_found_in_scripts_without_spaces() -> None:
    assert {"柏林", "小明"} <= set(names_in("小明住在柏林"))


def test_a_long_message_is_read_at_both_ends() -> None:
    query = asked("Where is Rex? " + "noise " * 100_000 + "And my Volvo?")
    assert len(query.message) <= READ + 1
    assert "Rex" in query.message
    assert "Volvo" in query.message
    assert len(query.names) <= 1000


def test_what_the_database_can_not_keep_is_not_read() -> None:
    assert asked("where\x00 do I\ud800 live").message == "where do I live"


def test_a_short_message_leans_on_the_turns_before_it() -> None:
    query = asked("and my sister?", "one", "two", "Where does Bob live?", "How about Carol?")
    assert query.in_context == "two\nWhere does Bob live?\nHow about Carol?\nand my sister?"
    assert "carol" in query.names


def test_a_message_with_words_of_its_own_does_not() -> None:
    query = asked("which restaurant serves good Thai curry in Turku", "Where does Bob live?")
    assert query.in_context == query.message
    assert "bob" not in query.names


def test_a_mixture_of_sayings_is_read_quickly() -> None:
    assert not asked("好" * 999 + "狗").is_small_talk
    assert not asked("good job " * 200 + "dog").is_small_talk


PASTED = (
    "Traceback (most recent call last): the deploy script stopped.\n"
    "Server alpha answered with status 502 after thirty seconds.\n"
    "Retrying the upload of build artefacts to the mirror failed twice.\n"
    "Disk usage of the volume reached ninety eight percent overnight.\n"
    "Nothing else was written into the journal by the service.\n"
)


TWO = "The boat needs a new engine before the summer trip."


@pytest.mark.parametrize(
    ("message", "topics"),
    [
        ("Which restaurant near the harbour did my sister recommend for the birthday dinner?", ()),
        ("I had soup. What should I cook?", ()),
        ("Where do I live? And my sister?", ("Where do I live?", "And my sister?")),
        (
            "My sister Anna visits on Friday evening with her two children."
            " What should I cook? Also remind me of the plumber's new telephone number.",
            (
                "My sister Anna visits on Friday evening with her two children.",
                "What should I cook?",
                "Also remind me of the plumber's new telephone number.",
            ),
        ),
        (f"Hi Dr. Smith! {TWO} Any ideas?", (f"Hi Dr. Smith! {TWO}", "Any ideas?")),
        (
            "昨天我在图尔库买了新车。我妹妹住在哪里？",
            ("昨天我在图尔库买了新车。", "我妹妹住在哪里？"),
        ),
        (
            "कल कंपनी में नए बजट पर लंबी बैठक हुई और सब थक गए थे। मेरी बहन को क्या पसंद है?",
            (
                "कल कंपनी में नए बजट पर लंबी बैठक हुई और सब थक गए थे।",
                "मेरी बहन को क्या पसंद है?",
            ),
        ),
        (
            "أمس كان لدينا اجتماع طويل في الشركة حول الميزانية. أين تدرس أختي؟ أين أعيش؟",
            (
                "أمس كان لدينا اجتماع طويل في الشركة حول الميزانية.",
                "أين تدرس أختي؟",
                "أين أعيش؟",
            ),
        ),
        (
            "Χθες είχαμε στην εταιρεία μια μεγάλη συνάντηση. Τι σπουδάζει η αδερφή μου; Πού μένω;",
            (
                "Χθες είχαμε στην εταιρεία μια μεγάλη συνάντηση.",
                "Τι σπουδάζει η αδερφή μου;",
                "Πού μένω;",
            ),
        ),
        (
            f'{TWO} "Where do you live these days?" asked the courier of the engine company.',
            (
                TWO,
                '"Where do you live these days?"',
                "asked the courier of the engine company.",
            ),
        ),
        (
            f"Tell me about my sister\n{TWO}\n2026-11-30 see https://host.example/api?id=7",
            (
                "Tell me about my sister",
                TWO,
                "2026-11-30 see https://host.example/api?id=7",
            ),
        ),
    ],
)
def test_a_long_message_is_read_sentence_by_sentence(message: str, topics: tuple[str, ...]) -> None:
    query = asked(message)
    assert texts(query) == topics
    assert query.readings == (*topics, message)


def texts(query: Query) -> tuple[str, ...]:
    return tuple(topic.text for topic in query.topics)


def test_of_what_was_pasted_the_ends_are_read() -> None:
    query = asked(f"{PASTED * 2}\nWhere do I live?")
    assert texts(query)[0].startswith("Traceback")
    assert query.topics[-1] == Topic("Where do I live?", asks=True)
    assert len(query.topics) == 4
    assert "alpha" not in query.text


def test_a_short_message_is_read_as_a_whole_besides() -> None:
    """Its sentences may be about one thing."""
    query = asked(PASTED[:WHOLE])
    assert query.readings[-1] == query.message
    assert "alpha" in query.text
    assert asked(PASTED * 2).message not in asked(PASTED * 2).readings


def test_what_asks_is_read_wherever_it_stands() -> None:
    three = "Where do I live? Which car do I drive? What is my dog called?"
    for message in (f"{three}\n\n{PASTED * 2}", f"{PASTED}\n\n{three}\n\n{PASTED}"):
        read = texts(asked(message))
        assert {"Which car do I drive?", "What is my dog called?"} <= set(read)


def test_a_request_that_is_no_question_stands_alone_before_and_behind_what_was_pasted() -> None:
    data = '{"state": "running", "load": 3.1}, ' * 40
    request = "Tell me about my sister Anna"
    assert texts(asked(f"{request}\n{data}"))[0] == request
    assert texts(asked(f"{data}\n{request}"))[-1] == request


def test_what_has_no_full_stops_is_read_in_pieces() -> None:
    query = asked("and then we went on to the harbour with everybody " * 30 + "\nAny ideas?")
    assert len(query.topics) == 4
    assert all(0 < len(text) <= TOPIC_READ for text in texts(query))
    assert texts(query)[-1] == "Any ideas?"


@pytest.mark.parametrize(
    "hostile", ["a? ", "?\n", "?", "\n", "…", "x", "好。", "好？", "word? ", "' "]
)
def test_a_message_of_any_size_has_few_topics(hostile: str) -> None:
    query = asked(hostile * (1_000_000 // len(hostile)))
    assert len(query.readings) <= 5
    assert all(len(text) <= READ + 1 for text in query.readings)


def test_a_name_behind_what_was_pasted_is_looked_for() -> None:
    query = asked("word " * 350 + "\n\nWhat does Annika like?")
    assert "annika" in query.names


def test_a_name_in_the_middle_of_what_was_pasted_is_looked_for() -> None:
    query = asked("The harbour office sent new prices. " * 6 + "Mikko wrote. " + PASTED * 2)
    assert "mikko" not in query.text.lower()
    assert "mikko" in query.names
