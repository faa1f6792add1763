"""Questions in other languages find their facts, and only them."""

from datetime import UTC, datetime

import pytest

from agents.models import Agent
from memory.recall.service import recall
from memory.search.service import search
from memory.text.language import detect_language, language_config
from tests.memory.recalling import known, model
from tests.memory.searching import said

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
# Home, pet and drink; a question about each of the first two; one about none of them.
LANGUAGES = {
    "Chinese": (
        ("用户住在柏林的克罗伊茨贝格区。", "用户养了两只狗。", "用户喜欢喝绿茶。"),
        ("我住在柏林哪个区？", "我养了两只狗吗？"),
        "请解释一下量子力学",
    ),
    "Japanese": (
        (
            "ユーザーは京都に住んでいます。",
            "ユーザーは犬を二匹飼っています。",
            "ユーザーは緑茶が好きです。",
        ),
        ("京都のどこに住んでいますか？", "犬を飼っていますか？"),
        "量子力学について説明してください",
    ),
    "Korean": (
        (
            "사용자는 부산에 살고 있다.",
            "사용자는 강아지를 두 마리 키운다.",
            "사용자는 녹차를 좋아한다.",
        ),
        ("부산에 살고 있어?", "강아지를 몇 마리 키워?"),
        "양자역학을 설명해 줘",
    ),
    "Thai": (
        ("ผู้ใช้อาศัยอยู่ที่เชียงใหม่", "ผู้ใช้เลี้ยงสุนัขสองตัว", "ผู้ใช้ชอบดื่มชาเขียว"),
        ("บ้านของฉันที่เชียงใหม่อยู่ที่ไหน", "สุนัขของฉันชื่ออะไร"),
        "ช่วยอธิบายกลศาสตร์ควอนตัม",
    ),
    "Arabic": (
        ("يعيش المستخدم في مدينة القاهرة.", "يملك المستخدم كلبين.", "يحب المستخدم الشاي الأخضر."),
        ("أين أعيش في القاهرة؟", "كم كلبين أملك؟"),
        "اشرح ميكانيكا الكم",
    ),
    "Hebrew": (
        ("המשתמש גר בתל אביב.", "למשתמש יש שני כלבים.", "המשתמש אוהב תה ירוק."),
        ("איפה אני גר בתל אביב?", "כמה כלבים יש?"),
        "תסביר מכניקת קוונטים",
    ),
    "Hindi": (
        ("उपयोगकर्ता वाराणसी में रहता है।", "उपयोगकर्ता के पास दो कुत्ते हैं।", "उपयोगकर्ता हरी चाय पीता है।"),
        ("मैं वाराणसी में कहाँ रहता हूँ?", "मेरे कुत्ते कितने हैं?"),
        "क्वांटम यांत्रिकी समझाओ",
    ),
    "Russian": (
        (
            "Пользователь живёт в Казани.",
            "У пользователя две собаки.",
            "Пользователь пьёт зелёный чай.",
        ),
        ("В Казани я живу?", "У меня две собаки?"),
        "Объясни квантовую механику",
    ),
    "Finnish": (
        ("Käyttäjä asuu Turussa.", "Käyttäjällä on kaksi koiraa.", "Käyttäjä juo vihreää teetä."),
        ("Asunko Turussa?", "Minkä rotuisia koirani ovat?"),
        "Selitä kvanttimekaniikka",
    ),
    "German": (
        (
            "Der Nutzer wohnt in Leipzig.",
            "Der Nutzer hat zwei Hunde.",
            "Der Nutzer trinkt grünen Tee.",
        ),
        ("Wo in Leipzig wohne ich?", "Wie heißen meine Hunde?"),
        "Erkläre mir die Quantenmechanik",
    ),
    "French": (
        (
            "L'utilisateur habite à Nantes.",
            "L'utilisateur a deux chiens.",
            "L'utilisateur boit du thé vert.",
        ),
        ("Où est-ce que j'habite à Nantes ?", "Ai-je deux chiens ?"),
        "Explique la mécanique quantique",
    ),
    "Polish": (
        (
            "Użytkownik mieszka w Gdańsku.",
            "Użytkownik ma dwa psy.",
            "Użytkownik pije zieloną herbatę.",
        ),
        ("Gdzie mieszka w Gdańsku?", "Mam dwa psy?"),
        "Wyjaśnij mechanikę kwantową",
    ),
    "Turkish": (
        (
            "Kullanıcı İzmir'de yaşıyor.",
            "Kullanıcının iki köpeği var.",
            "Kullanıcı yeşil çay içiyor.",
        ),
        ("İzmir'de nerede yaşıyorum?", "Köpeğimin adı ne?"),
        "Kuantum mekaniğini açıkla",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_finds_its_fact_and_an_unrelated_one_none(agent: Agent, language: str) -> None:
    facts, questions, unrelated = LANGUAGES[language]
    for fact in facts:
        known(agent, fact, language=language_config(detect_language(fact)))
    for fact, question in zip(facts, questions, strict=False):
        told = [
            item.fact.statement for item in recall(agent=agent, message=question, now=NOW).items
        ]
        assert told[:1] == [fact], question
        assert facts[2] not in told, question
    assert recall(agent=agent, message=unrelated, now=NOW).block == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_record_is_found_in_its_language(agent: Agent, language: str) -> None:
    texts, questions, _ = LANGUAGES[language]
    said(agent, *texts)
    for text, question in zip(texts, questions, strict=False):
        assert [hit.text for hit in search(agent=agent, query=question, scope="raw")][:1] == [text]


def test_a_finnish_question_finds_the_town_that_it_bends_otherwise(agent: Agent) -> None:
    """Turkua and Turussa have no stem in common; that somebody lives somewhere they have."""
    texts = "Käyttäjä asuu Turussa.", "Käyttäjällä on kaksi koiraa."
    facts = known(agent, *texts, language="finnish")
    told = recall(agent=agent, message="Missä päin Turkua asun?", now=NOW).items
    assert [item.fact for item in told] == facts[:1]


@pytest.mark.parametrize("message", ["x", "xxxxxx", "asdf qwer", "q?", "Zzz 42"])
def test_what_means_nothing_finds_no_fact_of_a_script_that_the_model_can_not_read(
    agent: Agent, message: str
) -> None:
    """All that is left of them in a vector is that they are of no word that it knows."""
    for language in ("Thai", "Chinese", "Japanese", "Hindi", "Korean"):
        facts, _, _ = LANGUAGES[language]
        known(agent, *facts, language=language_config(detect_language(facts[0])))
    (english,) = known(agent, "Zzz 42", language="simple")
    told = [item.fact.statement for item in recall(agent=agent, message=message, now=NOW).items]
    assert told == ([english.statement] if message == english.statement else [])
    assert {hit.text for hit in search(agent=agent, query=message)} <= {english.statement}


OF_THEMSELVES = {
    "German": ("Der Nutzer wohnt in Leipzig.", "Wo wohne ich?"),
    "German work": ("Der Nutzer arbeitet als Tischler.", "Wo arbeite ich?"),
    "German stem": ("Der Nutzer fährt einen Volvo.", "Was fahre ich?"),
    "Dutch": ("De gebruiker woont in Utrecht.", "Waar woon ik?"),
    "French": ("L'utilisateur boit du thé vert.", "Que bois-je ?"),
    "Finnish": ("Käyttäjä lukee Kalevalaa.", "Mitä luen?"),
    "Finnish clitic": ("Käyttäjä juo teetä.", "Mitä juonkaan, juonko?"),
    "Russian": ("Пользователь живёт в Казани.", "Где я живу?"),
    "Russian reflexive": ("Пользователь занимается йогой.", "Чем я занимаюсь?"),
    "Ukrainian": ("Користувач працює лікарем.", "Ким я працюю?"),
    "Polish": ("Użytkownik mieszka w Gdańsku.", "Gdzie mieszkam?"),
    "Czech": ("Uživatel bydlí v Brně.", "Kde bydlím?"),
    "Hungarian": ("A felhasználó Pécsen lakik.", "Hol lakom?"),
    "Arabic": ("يعيش المستخدم في القاهرة.", "أين أعيش؟"),
    "Spanish": ("El usuario conduce un Volvo.", "¿Qué coche conduzco?"),
    "Turkish": ("Kullanıcı İzmir'de yaşıyor.", "Nerede yaşıyorum?"),
}


@pytest.mark.parametrize("language", OF_THEMSELVES)
def test_what_owners_say_of_themselves_finds_what_facts_say_of_the_user(
    agent: Agent, language: str
) -> None:
    fact, question = OF_THEMSELVES[language]
    config = language_config(detect_language(fact))
    known(agent, fact, language=config)
    known(agent, "The user works as a nurse.", "The user has two dogs.")
    told = [item.fact.statement for item in recall(agent=agent, message=question, now=NOW).items]
    assert told[:1] == [fact]


# A fact; a question for it behind another sentence; two sentences that have a word of it each, or
# none.
SEVERAL = {
    "Finnish": (
        "Käyttäjän sisko opiskelee lääketiedettä.",
        "Kunnan liikennesuunnitelma herätti keskustelua valtuuston kokouksessa illalla."
        " Mitä sisko opiskelee nykyään?",
        "Kunnan liikennesuunnitelma herätti keskustelua, kertoi valtuutetun sisko lehdelle."
        " Moni nuori opiskelee illalla kotona kirjastossa.",
    ),
    "German": (
        "Die Schwester des Nutzers studiert Medizin an der großen Hochschule.",
        "Am Wochenende kommen z.B. unsere Freunde aus Hamburg mit dem Zug um ca. 15 Uhr."
        " Was studiert die Schwester?",
        "Die neue Straße wird im Sommer gebaut, sagte eine Schwester im Krankenhaus."
        " Wer heute Physik studiert, findet morgen leicht eine Stelle.",
    ),
    "Hindi": (
        "उपयोगकर्ता की बहन अन्ना को चॉकलेट पसंद है।",
        "कल कंपनी में नए बजट पर लंबी बैठक हुई और सब थक गए थे। मेरी बहन को क्या पसंद है?",
        "कल कंपनी में नए बजट पर लंबी बैठक हुई और सब थक गए थे। बाज़ार में आम सस्ता था।",
    ),
    "Greek": (
        "Ο αδερφός του χρήστη σπουδάζει ιατρική στην Πάτρα.",
        "Χθες είχαμε στην εταιρεία μια μεγάλη συνάντηση για τον προϋπολογισμό."
        " Τι σπουδάζει ο αδερφός μου;",
        "Χθες είχαμε στην εταιρεία μια μεγάλη συνάντηση για τον προϋπολογισμό."
        " Το βράδυ φάγαμε όλοι μαζί στην ταβέρνα.",
    ),
}


@pytest.mark.parametrize("language", SEVERAL)
def test_of_several_sentences_the_one_that_asks_finds_its_fact(agent: Agent, language: str) -> None:
    fact, asks, does_not = SEVERAL[language]
    known(agent, fact, language=language_config(detect_language(fact)))
    assert [item.fact.statement for item in recall(agent=agent, message=asks, now=NOW).items] == [
        fact
    ]
    assert recall(agent=agent, message=does_not, now=NOW).items == ()
