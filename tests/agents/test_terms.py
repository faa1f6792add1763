"""remembrancer_terms: what a text can be found by, in the database's own words."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


def terms(language: str, body: str) -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT term, tf FROM remembrancer_terms(%s, %s)", [language, body])
        return dict(cursor.fetchall())


def test_it_counts_stemmed_and_plain_words() -> None:
    assert terms("english", "Runs and running: RUNS") == {"run": 3, "runs": 2, "running": 1}


def test_stop_words_are_no_terms() -> None:
    assert terms("english", "Where is the dog and what is it?") == {"dog": 1}
    assert "the" in terms("simple", "the dog")


def test_an_unknown_language_is_read_as_it_stands() -> None:
    assert terms("klingon", "Running dogs") == terms("simple", "running DOGS")
    assert terms("pg_catalog.english; DROP", "dogs") == {"dogs": 1}


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("finnish", "Käyttäjä asuu Turussa ja pitää koirista.", "koirien"),
        ("german", "Der Nutzer wohnt seit Jahren in kleinen Wohnungen.", "Wohnung"),
        ("russian", "Пользователь любит собак.", "собаки"),
        ("arabic", "المستخدم يحب القهوة العربية", "قهوة"),
        ("turkish", "Kullanıcı kitapları seviyor", "kitap"),
        ("simple", "用户住在北京市", "北京"),
        ("simple", "ユーザーは東京に住んでいます", "東京に"),
        ("simple", "ผู้ใช้ชอบกาแฟดำ", "กาแฟ"),
        ("simple", "ຜູ້ໃຊ້ດື່ມກາເຟ", "ກາເຟ"),
        ("simple", "ខ្ញុំចូលចិត្តកាហ្វេ", "កាហ្វេ"),
        ("simple", "ကျွန်တော် ကော်ဖီ ကြိုက်တယ်", "ကော်ဖီ"),
        ("simple", "사용자는 회의를 월요일에 한다", "월요일"),
    ],
)
def test_another_form_of_a_word_shares_a_term(language: str, said: str, asked: str) -> None:
    assert terms(language, said).keys() & terms(language, asked).keys()
    assert not terms(language, said).keys() & terms(language, "xylophone").keys()


def test_a_script_without_spaces_becomes_pairs_of_characters() -> None:
    assert terms("simple", "我喜欢茶。茶") == {"我喜": 1, "喜欢": 1, "欢茶": 1, "茶": 1}
    assert terms("simple", "ชา") == {"ชา": 1}


def test_words_beside_such_a_script_stay_words() -> None:
    assert terms("english", "我用Django写 websites") == {
        "我用": 1,
        "django": 1,
        "写": 1,
        "websit": 1,
        "websites": 1,
    }


def test_nothing_has_no_terms() -> None:
    assert terms("english", "") == terms("english", "?! …") == {}


def test_a_long_run_of_letters_is_cut() -> None:
    assert list(terms("simple", "x" * 500)) == ["x" * 60]


def test_the_planner_may_count_on_it() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT provolatile FROM pg_proc WHERE proname = 'remembrancer_terms'")
        assert cursor.fetchone() == ("i",)
