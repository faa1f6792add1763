"""Sayings that greet, thank, agree or take leave. Single words that do are in small_talk.py; here
is what would say something word by word: a good job, until tomorrow."""

import re
from collections.abc import Iterator

from memory.text.normal import normalise
from memory.text.words import UNSPACED

# A language after the other.
_SAYINGS = """
how have you been / nice to meet you / good to see you / good to see you again / long time no see
sounds good / makes sense / keep going / tell me more / can you help me / i need help
are you there / who are you / what can you do / test / testing / good job / great job
nice job / well done / good work / no problem / no worries / never mind / nevermind
you're welcome / you are welcome
have a nice day / have a great day / have a good day / have a good one / happy new year
merry christmas / take care / talk to you later / talk to you soon / talk to you tomorrow
talk later / see you tomorrow / see you later / see you soon / see you then / see you next week
until tomorrow / till tomorrow / let's start / let's go / let's begin / next / go ahead / i see
got it / that's funny / very funny / i don't know / welcome back / i'm back
kiitos paljon / paljon kiitoksia / kiitoksia / suuret kiitokset / ole hyvä / ei kestä / moikka
hyvää huomenta / hyvää päivää / hyvää iltaa / hyvää yötä / hyvää viikonloppua / hyvää joulua
nähdään / nähdään huomenna / nähdään pian / huomiseen / hei hei / moi moi / heippa / okei / juu
danke schön / dankeschön / danke sehr / vielen lieben dank / herzlichen dank / bitte schön
wie geht's / wie gehts / grüß gott / grüß dich / gute nacht / bis morgen / bis bald / bis später
bis dann / auf wiedersehen / alles klar / alles gut / genau / weiter / weiter so / schönen tag
schönen tag noch / schönes wochenende / kein problem / gern geschehen / frohes neues jahr
à demain / à bientôt / à plus tard / à plus / bonne nuit / bonne journée / bonne soirée / merci bien
de rien / s'il te plaît / s'il vous plaît / comment ça va / très bien / au revoir / bonne année
hasta mañana / hasta luego / hasta pronto / de nada / por favor / cómo está / todo bien / muy bien
qué tal estás / buenas / feliz año nuevo / nos vemos / nos vemos mañana
a domani / a presto / a dopo / buona notte / buonanotte / arrivederci / per favore / di niente
tutto bene / molto bene / va bene / buona giornata / grazie ancora
até amanhã / até logo / de nada / por favor / muito obrigado / muito obrigada / boa noite / tchau
tot morgen / tot ziens / tot later / dank u wel / dank je wel / dankjewel / goedenacht / alsjeblieft
fijne dag / geen probleem
tack så mycket / tack så jättemycket / tusen tack / vi ses / vi ses imorgon / vi ses i morgon
god natt / god kväll / hej då / ha det bra / varsågod / inga problem
takk / tusen takk / takk skal du ha / ha det / ha det bra / god dag / god natt / mange tak / farvel
vi ses i morgen / vi sees i morgen / hvordan går det / hvordan har du det / selv tak
cześć / dzień dobry / dobry wieczór / dobranoc / dziękuję / dziękuję bardzo / dzięki / do widzenia
do jutra / na razie / jak się masz / co słychać / miłego dnia / tak / nie / proszę
ahoj / dobrý den / dobré ráno / dobrou noc / děkuji / díky / na shledanou / jak se máš / prosím
ďakujem / dobrý deň / dovidenia
merhaba / selam / günaydın / iyi günler / iyi akşamlar / iyi geceler / teşekkürler / sağ ol
teşekkür ederim / çok teşekkürler / çok teşekkür ederim / nasılsın / nasılsınız / evet / hayır
tamam / lütfen / görüşürüz / yarın görüşürüz / hoşça kal / kolay gelsin
спасибо большое / большое спасибо / до завтра / до свидания / доброй ночи / спокойной ночи
увидимся / увидимся завтра / ладно / понятно / ага / как ты / что нового / до встречи
привіт / дякую / дуже дякую / добрий день / доброго дня / доброго ранку / добрий вечір / як справи
до завтра / до побачення / будь ласка / на добраніч
مرحبا / أهلا / أهلا وسهلا / شكرا / شكرا جزيلا / شكرا لك / تصبح على خير / مع السلامة / حسنا / تمام
إلى اللقاء / أراك غدا / كيف الحال / صباح النور / مساء النور / عفوا
سلام / ممنون / ممنونم / مرسی / متشکرم / خداحافظ / خوبی / چطوری / صبح بخیر / شب بخیر / تا فردا
שלום / תודה / תודה רבה / בוקר טוב / ערב טוב / לילה טוב / מה שלומך / מה נשמע / להתראות / כן / לא
בסדר / נתראה מחר / בבקשה
γεια / γεια σου / γεια σας / καλημέρα / καλησπέρα / καληνύχτα / ευχαριστώ / ευχαριστώ πολύ
τι κάνεις / ναι / όχι / εντάξει / αντίο / παρακαλώ / τα λέμε αύριο
नमस्ते / नमस्कार / धन्यवाद / शुक्रिया / आप कैसे हैं / कैसे हो / हाँ / नहीं / ठीक है / अलविदा
शुभ रात्रि / सुप्रभात / कल मिलते हैं
안녕하세요 / 안녕 / 안녕히 계세요 / 고마워 / 고마워요 / 고맙습니다 / 정말 고마워요 / 감사합니다
정말 감사합니다 / 감사해요 / 잘 지내 / 잘 지내세요 / 예 / 응 / 좋아요 / 알겠습니다 / 알겠어요
내일 봐 / 내일 봐요 / 내일 봬요 / 수고하세요 / 잘 자요 / 안녕히 주무세요 / 반갑습니다
xin chào / chào bạn / chào / cảm ơn / cảm ơn bạn / tạm biệt / bạn khỏe không / vâng / hẹn gặp lại
chúc ngủ ngon / hẹn mai gặp
halo / hai / terima kasih / terima kasih banyak / selamat pagi / selamat siang / selamat sore
selamat malam / apa kabar / sampai jumpa / sampai besok / sama-sama
szia / helló / köszönöm / köszi / jó napot / jó reggelt / jó estét / jó éjszakát / hogy vagy
viszlát / bună / bună ziua / bună dimineața / mulțumesc / mulțumesc mult / la revedere
ce mai faci / pe mâine
"""
# In scripts without spaces, where several may stand side by side, with their particles.
_UNSPACED_SAYINGS = """
你好 / 你好吗 / 您好 / 大家好 / 嗨 / 哈喽 / 谢谢 / 谢谢你 / 谢谢您 / 多谢 / 非常感谢 / 感谢 / 早
早安 / 早上好 / 上午好 / 中午好 / 下午好 / 晚上好 / 晚安 / 好 / 好的 / 好吧 / 行 / 可以 / 没问题
不客气 / 再见 / 拜拜 / 明天见 / 回头见 / 最近怎么样 / 你是谁 / 对 / 对的 / 是 / 是的 / 不
不是 / 嗯 / 哦 / 继续 / 辛苦了 / 啊 / 呀 / 吧 / 了 / 哈哈
你好嗎 / 謝謝 / 謝謝你 / 再見 / 明天見 / 沒問題
こんにちは / こんばんは / おはよう / おはようございます / おやすみ / おやすみなさい / ありがとう
ありがとうございます / ありがとうございました / どうも / どういたしまして / お疲れ様 / お疲れ様です
お疲れ様でした / おつかれさま / はじめまして / よろしく / よろしくお願いします / お願いします
よろしくお願いいたします / すみません / ごめん / ごめんなさい / さようなら / またね / また明日
はい / いいえ / うん / ええ / 元気ですか / お元気ですか / 了解 / 了解です / わかりました / なるほど
そうですか / そうですね / 大丈夫です / いいね / すごい
สวัสดี / หวัดดี / ขอบคุณ / ขอบใจ / มาก / มากๆ / ครับ / ค่ะ / คะ / นะ / สบายดีไหม / อรุณสวัสดิ์
ราตรีสวัสดิ์ / ลาก่อน / พรุ่งนี้เจอกัน / ใช่ / ไม่ / โอเค / ดี / ไม่เป็นไร / แล้วเจอกัน
"""


def _longest_first(lines: str) -> Iterator[str]:
    sayings = {normalise(one) for line in lines.splitlines() for one in line.split(" / ")}
    return map(re.escape, sorted(sayings - {""}, key=lambda one: (-len(one), one)))


# Possessive, so that no mixture of them takes long to fail.
_SAID = re.compile(rf"(?<!\w)(?:{'|'.join(_longest_first(_SAYINGS))})(?!\w)")
_SAID_UNSPACED = re.compile(
    rf"(?<![{UNSPACED}])(?:{'|'.join(_longest_first(_UNSPACED_SAYINGS))})++(?![{UNSPACED}])"
)


def without_greetings(text: str) -> str:
    """In normal form: what is left to be asked for."""
    return _SAID_UNSPACED.sub(" ", _SAID.sub(" ", normalise(text)))
