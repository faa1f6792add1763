"""Words behind which no question about the owner can stand, however close a fact may come."""

from memory.text.lists import listed, phrases

# A message of nothing but these asks for no memory.
SMALL_TALK = listed("""
    hello hi hey hiya yo howdy greetings good morning afternoon evening night day dear there
    thanks thank thx ty cheers great perfect awesome cool nice fine okay ok k kk sure alright
    right yes yeah yep yup no nope nah please pls welcome sorry bye goodbye ciao later soon see
    lol haha hahaha hehe wow oh ah hmm hm um well so very much too all again then now today
    how are you doing is it going what's up sup i'm i am me we and but a the that that's this to
    for your help lot got understood done exactly agreed correct continue go on ahead
    hei moi terve huomenta iltaa kiitos kiitti joo ei selvä hyvä hienoa näkemiin mitä kuuluu
    hej hallå tack ja nej bra god morgon kväll hur mår du läget
    hallo guten tag morgen abend danke vielen dank bitte nein gut super tschüss wie geht es dir
    ihnen servus moin
    bonjour bonsoir salut merci beaucoup oui non d'accord bien ça va comment allez-vous allez vous
    hola buenos buenas días tardes noches gracias muchas sí vale bueno adiós cómo estás qué tal
    ciao buongiorno buonasera grazie mille sì bene prego come stai va
    olá oi bom dia boa tarde noite obrigado obrigada sim não tudo bem
    hoi goedemorgen goedenavond dank je bedankt hoe gaat het met nee graag
    привет здравствуйте здравствуй доброе добрый утро день вечер спасибо да нет хорошо как дела
    пожалуйста пока
    مرحبا السلام عليكم شكرا نعم لا صباح مساء الخير كيف حالك
    안녕 안녕하세요 감사합니다 고마워 네 아니요
""")

# English words that hold a sentence together. They are no names, and say nothing by themselves.
FUNCTION_WORDS = listed("""
    a about after again all also am an and any are as at be because been before being but by can
    can't could did didn't do does doesn't doing don't down each else ever few for from get give go
    got had has have having he her here hers him his how i i'd i'll i'm i've if in into is isn't it
    it's its just know let let's like me mean might mine more most much must my need no not now of
    off on once one only or other our out over own please really said same say she should show so
    some something such tell than that that's the their them then there these they this those to
    too under until up us use user very want was wasn't we were what what's when where where's
    which while who who's whom whose why will with without won't would yes you you're your
    remember remind remembered happen happened happening again back anything everything thing
    things currently someone somebody anyone anybody everyone everybody nothing ever never also
    please help time times kind way lot maybe actually
""")

# What asks, in scripts without spaces: pairs of characters out of these are no content.
QUESTIONS = phrases("""
    哪里
    在哪里
    在哪
    哪儿
    什么
    什么时候
    为什么
    怎么
    怎么样
    多少
    几个
    谁
    哪个
    我的
    我是
    你知道
    告诉我
    吗
    何
    何処
    誰
    私の
    私は
    僕の
    僕は
    教えて
    ที่ไหน
    อะไร
    เมื่อไหร่
    เมื่อไร
    ทำไม
    อย่างไร
    ใคร
    เท่าไหร่
    ของฉัน
    ของผม
    ฉัน
    ผม
    ผู้ใช้
""")

# The same of languages for which Postgres has no list of stop words, and what its lists lack.
UNLISTED_FUNCTION_WORDS = listed("""
    هل ما ماذا متى أين اين من مَن هو هي هم أنا انا أنت نحن في على إلى الى عن مع كم كيف لماذا
    päin
    أي اي هذا هذه ذلك تلك كان كانت يكون لي لدي عندي و أو او ثم قد لا لم لن إن أن ان كل بعض
    я ти він вона ми ви вони мій моя моє мої мене мені що хто ким чим де коли як чому скільки який
    яка яке які і й та а але в у на з із за до від по про для не є чи
    ja mój moja moje mnie co kto czym gdzie kiedy dlaczego jaki jaka jakie w z od dla nie się jest
    czy
    já můj mě kdo kým čím kde kdy proč kolik jaký jaká jaké v se je
""")
