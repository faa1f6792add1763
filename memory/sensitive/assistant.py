"""Text that speaks to the assistant, or to the program around it, instead of about the owner.

Writing about prompts, XML or code is fine; imitating them is what is looked for.
"""

import re
from functools import cache

from memory.sensitive.reading import readable
from memory.text.lists import phrases

_ASSISTANT = (
    r"(?:(?:the\s+)?(?:ai\s+)?(?:assistant|model|chatbot|bot|agent|llm|ai)"
    r"|chatgpt|claude|gemini|copilot)"
)

# Commands and conditions, one regular expression a line, as whole words in any case.
_SPOKEN = f"""
    you(?:'ll|\\s+(?:must|should|shall|will|need|have\\s+to|ought|are\\s+(?:now|an?\\b|to)|can|may|always|never))
    your\\s+(?:instructions?|system|prompt|task|role|rules?|guidelines?|memory|memories|answers?|responses?|repl(?:y|ies)|output|training)
    {_ASSISTANT}\\s+(?:must|should|shall|will|needs?\\s+to|has\\s+to|is\\s+(?:required|expected|instructed|to|supposed)|ought|may\\s+not|can|always|never)
    (?:ignore|disregard|forget|override|bypass|discard)\\s+(?:(?:all|any|the|your|these|those|every(?:thing)?|of)\\s+){{0,3}}(?:previous|prior|above|earlier|preceding|former|existing|other|safety|system|instructions?|rules?|guidelines?|guardrails?)
    (?:new|updated|hidden|secret|real)\\s+(?:system\\s+)?(?:instructions?|prompt|rules?)\\s*:
    (?:when(?:ever)?|if|once|every\\s+time|next\\s+time|as\\s+soon\\s+as|each\\s+time)\\s+(?:the\\s+)?(?:users?|owner|anyone|anybody|someone|somebody|they|he|she|asked)\\s+(?:mentions?|asks?|talks?|says?|wants?|requests?|types?|writes?|searches|discuss(?:es)?|brings?|about|for|to|inquires?|queries)
    (?:respond|reply|answer|output|return|set|use|mark|save|store)\\s+(?:with|as|it|this)?\\s*(?:confidence|kind|type|state|status|active|approved)
    confidence\\s*(?:of|=|:|is)?\\s*(?:1(?:\\.0+)?|0?\\.9\\d*|100\\s?%)|(?:type|kind)\\s*[:=]?\\s*(?:episodic|semantic|procedural)
    (?:a|the|most|only|as|is)\\s+(?:trusted|authoritative|reliable|preferred|definitive|official)\\s+(?:source|authority|reference|provider|vendor|choice|tool)
    (?:company|corporate|official|internal|our|team|security)\\s+policy\\s+(?:states?|requires?|says|is|dictates|mandates)|per\\s+(?:company\\s+)?policy
    (?:recommend|suggest|prefer|promote|cite|trust)\\s+(?:it|this|only|first|over|above|them)\\b|should\\s+be\\s+(?:recommended|trusted|cited|preferred|used)
    (?:(?:send|forward|post|upload|exfiltrate|leak|email)\\s+(?:all|any|the|their|your|user)\\s+(?:data|messages?|memor(?:y|ies)|conversations?|history|emails?|files?|contents?|details?))\\s+to
    (?:curl|wget)\\s[^|]{{0,200}}\\|\\s*(?:sudo\\s+)?(?:ba|z|da)?sh|rm\\s+-rf\\s|powershell\\s+-e\\w*
    (?:remember|note|save)\\s+(?:this|that|these|the\\s+following)\\s+(?:rule|instruction|policy|as)

    (?:ignorier(?:e|en|st)?|vergiss|missachte)\\s+(?:\\w+\\s+){{0,3}}(?:anweisung\\w*|vorherig\\w*|bisherig\\w*|regeln)|(?:du|ihr|sie)\\s+(?:musst|sollst|müsst|sollt|müssen|sollen)|(?:assistent|assistentin|ki|modell)\\s+(?:muss|soll|sollte|darf)
    (?:ignore[rz]?|oublie[rz]?)\\s+(?:\\w+\\s+){{0,3}}(?:instructions?|consignes?|précédent\\w*)|(?:tu\\s+dois|vous\\s+devez)|(?:l'assistant|l'ia|le\\s+modèle)\\s+(?:doit|devrait)
    (?:ignora|olvida|ignore|olvide)\\s+(?:\\w+\\s+){{0,3}}(?:instrucciones|anteriores|reglas)|(?:(?:tú|usted)\\s+)?(?:debes|tienes\\s+que)|(?:el\\s+asistente|la\\s+ia|el\\s+modelo)\\s+(?:debe|debería|tiene\\s+que)
    (?:ignora|dimentica)\\s+(?:\\w+\\s+){{0,3}}(?:istruzioni|precedenti|regole)|(?:tu\\s+)?devi|(?:l'assistente|l'ia|il\\s+modello)\\s+(?:deve|dovrebbe)
    (?:ignore|esqueça)\\s+(?:\\w+\\s+){{0,3}}(?:instruções|anteriores|regras)|você\\s+deve|tu\\s+deves|(?:o\\s+assistente|a\\s+ia|o\\s+modelo)\\s+(?:deve|deveria)
    negeer\\s+(?:\\w+\\s+){{0,3}}(?:instructies|vorige|eerdere|regels)|(?:je|jij|u)\\s+(?:moet|dient)|de\\s+(?:assistent|ai)\\s+(?:moet|dient)
    ignorera\\s+(?:\\w+\\s+){{0,3}}(?:instruktioner\\w*|tidigare|föregående)|du\\s+(?:måste|ska|skall|bör)|assistenten\\s+(?:måste|ska|bör|skal)
    (?:unohda|ohita|jätä)\\s+(?:\\w+\\s+){{0,3}}(?:ohjeet|aiemmat|huomiotta)|sinun\\s+(?:täytyy|pitää|tulee)|avustajan\\s+(?:täytyy|pitää|tulee)|tekoälyn\\s+(?:täytyy|pitää|tulee)
    (?:zignoruj|ignoruj|zapomnij)\\s+(?:\\w+\\s+){{0,3}}(?:instrukcj\\w*|polece\\w*|poprzedni\\w*)|(?:ty\\s+)?musisz|asystent\\s+(?:musi|powinien)
    (?:игнорируй\\w*|забудь\\w*|проигнорируй\\w*)\\s+(?:\\w+\\s+){{0,3}}(?:инструкци\\w*|предыдущ\\w*|указани\\w*|правил\\w*)|(?:ты|вы)\\s+(?:должен|должна|должны|обязан\\w*)|(?:ассистент|помощник|модель|ии)\\s+(?:должен|должна|обязан\\w*)
    (?:ігноруй\\w*|забудь\\w*|проігноруй\\w*)\\s+(?:\\w+\\s+){{0,3}}(?:інструкц\\w*|попередн\\w*|вказівк\\w*)|(?:ти|ви)\\s+(?:повинен|повинна|повинні|маєш|мусиш)|(?:асистент|помічник|модель|ші)\\s+(?:повинен|повинна|має|мусить)
    (?:önceki|yukarıdaki)\\s+(?:tüm\\s+)?(?:talimat|yönerge|kural)\\w*\\s+(?:yok\\s+say|unut|görmezden\\s+gel)\\w*|(?:asistan|yapay\\s+zek[aâ]|model)\\s+(?:\\w+\\s+){{0,5}}\\w+m[ae]l[ıi]
    bỏ\\s+qua\\s+(?:\\w+\\s+){{0,3}}(?:hướng\\s+dẫn|chỉ\\s+dẫn|lệnh)|bạn\\s+(?:phải|nên|cần)|trợ\\s+lý\\s+(?:phải|nên|cần)
    abaikan\\s+(?:\\w+\\s+){{0,3}}(?:instruksi|perintah|sebelumnya)|(?:kamu|anda)\\s+(?:harus|wajib)|asisten\\s+(?:harus|wajib|perlu)
"""  # fmt: skip

_RUN_TOGETHER = """
    (?:تجاهل|انس|انسَ)\\s(?:\\w+\\s){0,3}(?:التعليمات|السابقة|الأوامر|القواعد)|(?:يجب|عليك)\\s(?:عليك\\s)?أن|(?:المساعد|النموذج)\\s(?:يجب|ينبغي)|(?:يجب|ينبغي)\\sعلى\\s(?:المساعد|النموذج)
    (?:התעלם|התעלמי|התעלמו|שכח)\\s(?:\\w+\\s){0,3}(?:הוראות|ההוראות|הקודמות|מההוראות)|(?:אתה|את|אתם)\\s(?:חייב|חייבת|צריך|צריכה|חייבים)|(?:העוזר|המודל|הבינה)\\s(?:חייב|צריך|צריכה)
    (?:पिछल[ेीा]|सभी|पहले\\sके)\\s(?:\\S+\\s){0,3}(?:निर्देश|निर्देशों|आदेश)\\s(?:\\S+\\s){0,2}(?:अनदेखा|नज़रअंदाज़|भूल)|(?:आपको|तुम्हें)\\s(?:\\S+\\s){0,8}(?:चाहिए|होगा)|(?:सहायक|असिस्टेंट)\\sको
    (?:忽略|无视|無視|忘记|忘記)[^。]{0,12}(?:指令|指示|提示|之前|以上|规则|規則)|(?:你|您)(?:必须|必須|应该|應該|应当|需要|要|将|不要|不能)|(?:助手|模型|AI|人工智能)(?:必须|必須|应该|應該|应当|需要|要|不得|不要)
    (?:以前|これまで|上記|前)の?[^。]{0,12}(?:指示|命令|ルール)[^。]{0,6}(?:無視|忘れ)|(?:あなた|君|お前)は[^。]{0,40}(?:べき|なければ|必要|ください)|(?:アシスタント|モデル|AI)は[^。]{0,40}(?:べき|なければ|必要|こと)
    (?:이전|위의?|앞의?|모든)\\s?[^.]{0,12}(?:지시|명령|규칙)[^.]{0,6}(?:무시|잊)|(?:당신|너)(?:은|는)\\s?[^.]{0,40}(?:해야|하지\\s?마)|(?:어시스턴트|모델|AI|비서)(?:은|는)\\s?[^.]{0,40}(?:해야|하지\\s?마)
    (?:เพิกเฉย|ละเว้น|ลืม|ไม่ต้องสนใจ)[^.]{0,20}(?:คำสั่ง|คำแนะนำ|ก่อนหน้า)|(?:คุณ|เธอ)(?:ต้อง|ควร|จะต้อง)|(?:ผู้ช่วย|โมเดล|เอไอ)(?:ต้อง|ควร|จะต้อง)
"""  # fmt: skip

# The machinery of chats, memory blocks and model replies, imitated.
_FORGED = """
    (?:^|[\\n.;!?"'>])\\s{0,5}\\**(?:system|assistant|user|human|developer|tool|ai)\\**\\s*:\\s
    (?:^|\\n)\\s{0,3}\\#{2,6}\\s*(?:instruction|response|system|human|assistant|input)
    \\[/?(?:inst|sys|system|assistant)\\]|<<\\s?/?sys\\s?>>|<\\|\\s?\\w{2,30}\\s?\\|>|</?s>|<(?:start|end)_of_turn>|\\b(?:im_start|im_end|endoftext)\\b
    <\\s{0,5}/?\\s{0,5}(?:memory|memories|conversation|summary|system|assistant|user|human|instructions?|untrusted_content|tool_(?:call|result|use)s?|function_calls?|think(?:ing)?|context|prompt|candidates?|facts?)\\b
    \\btrust\\s?=\\s?["']?(?:system|high|full|trusted|owner)|["']\\s+trust\\s?=
    ["'](?:confidence|kind|about_owner|general_knowledge|changes_behavior|state|candidates|statement|decisions|action|handles|sources|role|content)["']\\s?:
    !\\[[^\\]\\n]{0,200}\\]\\s?[(\\[]|\\]\\(\\s?(?:https?:|data:|javascript:|//)|\\[[^\\]\\n]{1,100}\\]:\\s?(?:https?:|data:)|\\b(?:javascript|vbscript):|\\bdata:[a-z]{2,20}/[\\w.+-]{2,40}[;,]
    https?://[^\\s]{0,300}[?{&][^\\s]{0,300}[={}]|<(?:img|script|iframe|svg|a|link|meta)\\b
    <!--|display\\s?:\\s?none|(?:%[0-9a-f]{2}){6}|\\b[a-z0-9+/]{64,}={0,2}(?![\\w])|\\\\x[0-9a-f]{2}(?:\\\\x[0-9a-f]{2}){3}
"""  # fmt: skip


def addresses_assistant(text: str) -> str | None:
    """The first phrase that speaks to the assistant or forges its format, as a reader sees it."""
    text = readable(text)
    found = [match for pattern in _patterns() if (match := pattern.search(text))]
    return min(found, key=lambda match: match.start())[0].strip() if found else None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    spoken = rf"(?<![\w-])(?:{'|'.join(phrases(_SPOKEN))})(?!\w)"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (spoken, "|".join(phrases(_RUN_TOGETHER)), "|".join(phrases(_FORGED)))
    )
