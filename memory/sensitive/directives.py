"""Language that tells somebody what to do, now and from now on, in the languages we know.

A fact that reads like an instruction may be one that somebody hid there; the owner decides.
"""

import re
from functools import cache

from memory.sensitive.reading import readable
from memory.text.lists import phrases

# One regular expression a line, matched as whole words in any case. English perfect tenses
# ("has always lived") tell a history and are left out.
_SPACED = """
    (?<!has\\ )(?<!have\\ )(?<!had\\ )(?<!'ve\\ )(?<!almost\\ )(?<!nearly\\ )always(?!\\s+been\\b)
    (?<!has\\ )(?<!have\\ )(?<!had\\ )(?<!'ve\\ )never(?!\\s+been\\b|theless)
    from\\s+(?:now|this\\s+(?:point|moment|day)|today)\\s+(?:on|onwards?|forward)|going\\s+forward|henceforth|hereafter
    (?:must|shall)(?!\\s+have\\b)|should(?!\\s+have\\b)|ought\\s+to|needs?\\s+to\\s+be\\s+told
    do\\s+not|don't|make\\s+sure|be\\s+sure\\s+to|ensure\\s+that|remember\\s+to|in\\s+(?:all|every)\\s+(?:future|response|answer|reply|conversation)s?
    (?:in|for)\\s+(?:all|any)\\s+future|every\\s+time|each\\s+time|whenever|under\\s+no\\s+circumstances|at\\s+all\\s+times|without\\s+(?:asking|exception)
    (?:wants?|asks?|asked|tells?|told|instructs?|instructed|requires?|expects?)\\s+(?:the\\s+)?(?:assistant|ai|model|bot|chatbot|you)\\b
    respond\\s+(?:only|with|in)|reply\\s+(?:only|with|in)|answer\\s+(?:only|with|in)|refuse\\s+to|pretend|act\\s+as

    immer|niemals?|ab\\s+(?:jetzt|sofort|heute)|von\\s+(?:jetzt|nun)\\s+an|künftig|in\\s+zukunft|stets|auf\\s+keinen\\s+fall|jedes\\s+mal
    (?:muss|musst|müssen|soll|sollst|sollte|sollen|darf(?:st)?\\s+nicht)|stelle?\\s+sicher|achte\\s+darauf|antworte\\s+(?:nur|mit|auf)

    toujours|(?<!n'a\\ )jamais|désormais|dorénavant|à\\s+partir\\s+de\\s+maintenant|à\\s+l'avenir
    chaque\\s+fois
    en\\s+aucun\\s+cas
    (?:dois|doit|devez|doivent|devrais|devrait|faut|veille[rz]?\\s+à|assure[rz]?-(?:toi|vous)|n'oublie[rz]?\\s+pas)

    siempre|nunca|jamás|de\\s+ahora\\s+en\\s+adelante|a\\s+partir\\s+de\\s+ahora|en\\s+adelante|cada\\s+vez|en\\s+ningún\\s+caso
    (?:debes?|deben|debería|deberías|tienes?\\s+que|hay\\s+que|asegúrate|recuerda\\s+que|no\\s+olvides)

    sempre|mai\\s+più|non\\s+\\w{1,20}\\s+mai|d'ora\\s+in\\s+(?:poi|avanti)|da\\s+ora\\s+in\\s+poi|in\\s+futuro|ogni\\s+volta|in\\s+nessun\\s+caso
    (?:devi|deve|devono|dovrebbe|dovresti|bisogna|assicurati|ricordati\\s+di|non\\s+dimenticare)

    a\\s+partir\\s+de\\s+agora|de\\s+agora\\s+em\\s+diante|daqui\\s+em\\s+diante|doravante|toda\\s+vez|em\\s+nenhum\\s+caso
    (?:deve|deves|devem|deveria|tem\\s+que|tens\\s+de|certifique-se|lembre-se\\s+de)

    altijd|nooit|vanaf\\s+nu|voortaan|in\\s+het\\s+vervolg|elke\\s+keer|onder\\s+geen\\s+beding
    (?:moet(?:en)?|dient|zorg\\s+ervoor|vergeet\\s+niet|mag\\s+nooit)

    alltid|aldrig|aldri|från\\s+och\\s+med\\s+nu|hädanefter|framöver|i\\s+fortsättningen|varje\\s+gång|altid|fra\\s+nu\\s+af|fra\\s+nå\\s+av|fremover
    (?:måste|skall?|bör|se\\s+till\\s+att|glöm\\s+inte|skal|må\\s+ikke|må\\s+alltid)

    aina|(?:ei|eivät|älä|et)\\s+(?:\\w{1,20}\\s+)?koskaan|tästä\\s+(?:lähtien|eteenpäin)|jatkossa|vastedes|joka\\s+kerta
    (?:täytyy|pitää(?=\\s+\\w+[td]a\\b)|pitäisi|tulee\\s+aina|on\\s+pakko|muista|varmista|älä)

    zawsze|nigdy|od\\s+teraz|od\\s+tej\\s+pory|odtąd|w\\s+przyszłości|za\\s+każdym\\s+razem|pod\\s+żadnym\\s+pozorem
    (?:musi|musisz|muszą|powin\\w{2,5}|należy|upewnij\\s+się|pamiętaj|nie\\s+wolno)
    vždy|nikdy|odteď|od\\s+teď|mindig|soha|mostantól|întotdeauna|niciodată|de\\s+acum\\s+(?:înainte|încolo)

    всегда|никогда|отныне|впредь|с\\s+этого\\s+момента|с\\s+этих\\s+пор|каждый\\s+раз|ни\\s+в\\s+коем\\s+случае|в\\s+будущем
    (?:должен|должна|должны|должно|следует|нужно|надо|необходимо|обязан[аы]?|убедись|убедитесь|не\\s+забудь(?:те)?)

    завжди|ніколи|відтепер|надалі|з\\s+цього\\s+моменту|щоразу|кожного\\s+разу|в\\s+жодному\\s+разі
    (?:повинен|повинна|повинні|мусить|мусиш|слід|потрібно|треба|необхідно|переконайся|не\\s+забудь)

    her\\s+zaman|her\\s+defasında|asla|hiçbir\\s+zaman|bundan\\s+(?:sonra|böyle)|şu\\s+andan\\s+itibaren|artık\\s+hep|daima
    \\w{2,30}m[ae]l[iı](?:s[iı]n(?:[iı]z)?)?|gerek(?:ir|iyor)|zorunda\\w{0,6}|emin\\s+ol|unutma

    luôn(?:\\s+luôn)?|không\\s+bao\\s+giờ|từ\\s+(?:bây\\s+giờ|nay)|kể\\s+từ\\s+(?:bây\\s+giờ|nay)|về\\s+sau|mỗi\\s+khi|mỗi\\s+lần|phải|cần\\s+phải|đừng|hãy
    selalu|jangan|tidak\\s+pernah|mulai\\s+sekarang|(?:untuk\\s+)?ke\\s+depannya|setiap\\s+kali|harus(?:lah)?|wajib|pastikan|seharusnya
"""

# Scripts whose words run into each other or carry their particles: matched anywhere.
_RUN_TOGETHER = """
    (?<!\\w)[وف]?(?:دائما|دائمًا|دائماً|أبدا|أبدًا|أبداً|من\\sالآن\\sفصاعد|منذ\\sالآن|في\\sالمستقبل|في\\sكل\\sمرة|كل\\sمرة|يجب|ينبغي|تأكد|لا\\sتنس|إياك|عليك\\sأن)
    (?<![א-ת])[ושכ]?(?:תמיד|לעולם|אף\\sפעם|לעולם\\sלא|מעתה|מעכשיו|מהיום\\sוהלאה|בעתיד|בכל\\sפעם|חייב(?:ת|ים)?|צריכ?(?:ה|ים)?|יש\\sל|ודא|אסור|אל\\sתשכח)(?![א-ת])
    (?<![ऀ-ॿ])(?:हमेशा|सदैव|कभी\\sनहीं|कभी\\sभी\\sनहीं|अब\\sसे|आज\\sसे|आगे\\sसे|भविष्य\\sमें|हर\\sबार|अवश्य|ज़?रूर|चाहिए|मत\\s)
    总是|總是|始终|始終|永远|永遠|从不|從不|绝不|絕不|从现在(?:开始|起)|從現在(?:開始|起)|今后|今後|以后|以後|往后|每次|每当|每當|务必|務必|必须|必須|一定要|应该|應該|应当|應當|不要|不得|请记住|請記住|切勿|禁止
    常に|いつも|必ず|絶対に|決して|今後|これから|以降は|今から|毎回|するたびに|なければならない|なければなりません|べき|してください|しないで|こと。\\Z
    항상|언제나|늘\\s|절대로?|결코|앞으로|지금부터|이제부터|매번|할\\s때마다|반드시|꼭\\s|해야\\s?(?:한다|합니다|해)|하지\\s?마|하세요|해\\s?주세요
    เสมอ|ตลอดไป|ไม่เคย|อย่า|ห้าม|ต่อจากนี้|จากนี้ไป|ตั้งแต่นี้|ต่อไปนี้|ในอนาคต|ทุกครั้ง|ต้อง|ควร|จงอย่า|โปรด
    (?<!\\w)(?:همیشه|هرگز|از\\sاین\\sپس|از\\sحالا\\sبه\\sبعد|باید|نباید)(?!\\w)
"""


def directive(text: str) -> str | None:
    """The first phrase that reads like an instruction, as it stands there."""
    text = readable(text)
    found = [match for pattern in _patterns() if (match := pattern.search(text))]
    return min(found, key=lambda match: match.start())[0].strip() if found else None


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    spaced = rf"(?<![\w-])(?:{'|'.join(phrases(_SPACED))})(?![\w-])"
    return (
        re.compile(spaced, re.IGNORECASE),
        re.compile("|".join(phrases(_RUN_TOGETHER)), re.IGNORECASE),
    )
