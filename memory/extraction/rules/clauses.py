"""The one clause of a sentence that says something about its speaker, in plain words.

Everything that could refer to something outside the sentence ends it or disqualifies it.
"""

import re

from memory.extraction.rules.vocabulary import any_of

_GREETINGS = any_of("""
    hey hi hiya hello yeah yea yep yes yup no nope nah well so oh ok okay sure right actually also
    plus btw by_the_way fyi anyways? honestly and but wow whoa for_context as_for_me me_too
    same_here same personally luckily unfortunately fortunately sadly thankfully finally guess_what
    you_know speaking_of_which cool great nice awesome aww+ hm+ in_fact of_course definitely
    absolutely exactly totally to_be_honest tbh i_mean long_time_no_(?:see|talk|chat)
    good_(?:morning|afternoon|evening) for_me these_days nowadays besides(?:_that)? first then
    since_then one_more_thing note_that background context
""")
_OPENINGS = re.compile(
    rf"(?:{_GREETINGS}(?:\s+[A-Z][a-z]+)?(?:\s*[,!.:…—–-]+\s*|\s+))+(?=[A-Za-z])", re.IGNORECASE
)
_VOCATIVE = re.compile(r"^[A-Z][a-z]+[,!]\s+(?=(?:I|My|my|We)\b)")
# "Just adopted a cat": nobody but the speaker.
_DROPPED_SUBJECT = re.compile(
    r"^(?:just |recently )?((?:went|got back from|took|bought|visited|started|joined|finished"
    r"|adopted|moved|signed up|got|won|attended)\b"
    r"(?! (?:it|that|this|you|any|some|ya|me|to|the|in touch|ready|rid)\b))",
    re.IGNORECASE,
)
_SHORT_FORMS = (
    (r"\bi'm\b", "I am"),
    (r"\bim\b", "I am"),
    (r"\bi've\b", "I have"),
    (r"\bive\b", "I have"),
    (r"\bi'll\b", "I will"),
    (r"\bcan't\b", "cannot"),
    (r"\bwon't\b", "will not"),
    (r"\b(do|does|did|is|are|was|were|has|have|had)n't\b", r"\1 not"),
    (r"\bdont\b", "do not"),
    (r"\b(name|job|favou?rite(?: \w+){1,2}|it|he|she|that|there|what)'s\b", r"\1 is"),
    (r"\b(gonna)\b", "going to"),
    (r"\bi\b(?!\.)", "I"),
)
# Where a second thought begins. The clause before it stands by itself...
_SUBJECTS = any_of("I it we they he she you my this that those these there the now then")
_TURN = re.compile(
    r"\s*[;()—–…]|:(?=\s|$)|\s+-+\s+"
    r"|\s*[,.!]?\s+(?:but|so|because|'?cause|cuz|since(?!\s+(?:\d|last|I\s+was))|although|though"
    r"|whereas|even|especially|thanks\s+to|thinking|hoping|it's|that's"
    r"|to\s+(?:help|make|show|raise|get))\b"
    rf"|\s*,\s+(?:{_SUBJECTS}|which|who|where|while|making|giving|helping|as|just|too)\b"
    rf"|\s*,?\s+(?:and|plus|or)\s+(?:{_SUBJECTS}|it's|am|is|are|was|were|got|can|will|have|had)\b",
    re.IGNORECASE,
)
# ... but not before these, which narrow down what was just named.
_NARROWED = re.compile(
    r"\s(?:which|who|whom|whose|where|while|when(?!\s+I\s+was\b)|that(?!\s+(?:time|day)\b)"
    r"|as(?!\s+(?:an?|the|my|of)\b)|except|until|after|before)\b",
    re.IGNORECASE,
)
_PLURAL_THAT = re.compile(r"(?<=\w\ws) that (?=[a-z]+ )")
_LINKS = any_of("""
    for into towards? with about of at on in to from by and or than like as getting during my an?
    the going being through some have has had do does did is are was were will be
""")
_HANGING = re.compile(rf"\b{_LINKS}$", re.IGNORECASE)
_LAST_WORDS = any_of("""
    too as_well for_example for_instance for_sure i_guess hard well so_far all_the_time though
    right_now at_the_moment these_days nowadays anymore yet already you_know btw tho again instead
    and or but so with of_course (?<!by_)myself a_lot very_much so_much
""")
_TAIL = re.compile(rf"[\s,]*\b{_LAST_WORDS}$", re.IGNORECASE)
_POINTERS = any_of("""
    you your yours you're we us our ours ourselves it its it's this that these those there here he
    him his she her hers they them their theirs such same ones? things? stuff else another others?
    someone somewhere somebody everything anything everyone both either so how what why who
""")
_ELSEWHERE = re.compile(rf"\b{_POINTERS}\b", re.IGNORECASE)
_NO_FILLERS = re.compile(
    r"\b(?:just|actually|definitely|totally|literally|honestly|simply|absolutely|finally|even|really)\s+",
    re.IGNORECASE,
)
_SOFT = re.compile(r"\bnot\b|\bnever\b|\bno\b|\bn't\b|\bhardly\b|\bbarely\b", re.IGNORECASE)


def plain(sentence: str) -> str:
    """Straight apostrophes, single spaces, short forms spelled out, greetings gone."""
    text = " ".join(sentence.translate({0x2019: "'", 0x2018: "'"}).split())
    text = re.sub(r"^[^\w\"']+|[^\w)%\"']+$", "", text)
    for pattern, long in _SHORT_FORMS:
        text = re.sub(pattern, long, text, flags=re.IGNORECASE)
    previous = None
    while previous != text:
        previous = text
        opening = _OPENINGS.match(text)
        text = _VOCATIVE.sub("", text[opening.end() :] if opening else text)
    return _DROPPED_SUBJECT.sub(lambda match: f"I {match[1].lower()}", text)


def head(text: str) -> str:
    """The clause up to the first turn of the sentence."""
    cut = _TURN.search(text, 6)
    clause = text[: cut.start()] if cut else text
    previous = None
    while previous != clause:
        previous, clause = clause, _TAIL.sub("", clause.rstrip(" ,.!"))
    return clause


def time_last(clause: str) -> str:
    """`I recently moved` as `I moved recently`."""
    return re.sub(r"^(I|my .{3,30}?) (recently|lately) (.+)$", r"\1 \3 \2", clause)


def is_cut_short(clause: str) -> bool:
    """Does it end where something must follow, or hang on a condition that a rule can't judge?"""
    return bool(_HANGING.search(clause) or _NARROWED.search(_PLURAL_THAT.sub(" ", clause)))


def without_fillers(clause: str) -> str:
    return _NO_FILLERS.sub("", clause)


def points_elsewhere(clause: str) -> bool:
    """Does it need another sentence to be understood?"""
    return bool(_ELSEWHERE.search(_PLURAL_THAT.sub(" ", clause)))


def is_negated(clause: str) -> bool:
    return bool(_SOFT.search(clause))
