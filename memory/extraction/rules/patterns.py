"""The table of what the rules know: one line per way of saying something about oneself.

A line is a regular expression for a whole clause in plain words; lines are tried in order and the
first that fits wins. A word in capitals stands for an entry of the vocabulary, REST for whatever
follows. Case is ignored except in names.
"""

import re
from dataclasses import dataclass
from functools import cache

from memory.extraction.rules.vocabulary import VOCABULARY
from memory.text.lists import phrases
from memory.vocabulary import EntityType, Kind, Tag

SEMANTIC, EPISODIC = Kind.SEMANTIC, Kind.EPISODIC


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of one meaning. A group of a line that is named after an entity type names an entity.

    `dated`: only with a date. `negative`: the denial is the fact. `past`: the verb is past tense.
    """

    kind: Kind
    tags: tuple[Tag, ...]
    confidence: float
    lines: str
    dated: bool = False
    negative: bool = False
    past: bool = False


GROUPS = (
    Group(
        SEMANTIC,
        (Tag.FACT,),
        0.9,
        r"""
        my (?:full |first |last |real )?name is (?P<person>NAME)
        my name is (?P<person>[a-z]{2,20})
        (?:my friends|people|everyone|everybody) calls? me (?P<person>NAME)
        """,
    ),
    Group(
        SEMANTIC,
        (Tag.FACT, Tag.LOCATION),
        0.9,
        r"""
        I ADV LIVE(?: with my KIN)? (?:in|near|outside|just outside|close to|at|on) PLACE REST
        I ADV ORIGIN (?:(?:in|near|from|on) )?PLACE REST
        my (?:hometown|home town|home country|birthplace) is PLACE REST
        """,
    ),
    Group(
        EPISODIC,
        (Tag.FACT, Tag.LOCATION),
        0.85,
        r"""
        I ADV MOVED (?:back )?(?:here )?(?:from|to|into|out) (?:PLACE|a new HOME|my own place) REST
        """,
        past=True,
    ),
    Group(EPISODIC, (Tag.FACT, Tag.LOCATION), 0.75, r"I have BEEN (?P<place>NAME) REST"),
    Group(
        SEMANTIC,
        (Tag.FACT, Tag.RELATIONSHIP),
        0.85,
        r"""
        I ADV (?:live|am living) (?:alone|by myself|with WHOSE MODS FAMILY(?: and .*)?)
        I (?:was raised by my KINs?|come from an? (?:\w+ ){0,3}family) REST
        """,
    ),
    Group(SEMANTIC, (Tag.FACT, Tag.SCHEDULE), 0.9, r"my birthday is|I was born", dated=True),
    Group(
        SEMANTIC,
        (Tag.FACT,),
        0.8,
        r"""
        I am (?:an? )?\d{1,2}(?:[- ]years?[- ]old(?: \w+)?)?
        I am \d[\w' .]{0,12} tall|I weigh \d.*
        I wear (?:glasses|contacts|contact lenses|a hearing aid) REST
        I am STATUS
        """,
    ),
    # Work and study
    Group(
        SEMANTIC,
        (Tag.FACT,),
        0.85,
        r"""
        I ADV WORK (?:(?:full|part)[- ]time )?as an? MODS ROLE REST
        I ADV WORK (?:(?:full|part)[- ]time )?(?:at|for) (?:(?P<service>NAME)|an? OBJECT) REST
        I ADV WORK (?:from home|nights|remotely|in (?:FIELD|an? OBJECT)) REST
        I (?:am|was|have been) NOW an? (?:MOD ){0,4}?ROLE(?: JOINED .*)?
        my (?:current )?JOB is (?:an? |in |at |as |with |called |named )?OBJECT REST
        I ADV STUDY (?!hard\b|for\b|well\b)OBJECT REST
        I ADV ATTEND (?:SCHOOL|(?P<place>NAME (?:University|College|School))) REST
        I have QUANTITY(?:\d+|\w+) years?(?:'| of)? experience REST
        I ADV (?:have|got|earned) (?:an? |my )(?:\w+ ){0,3}DIPLOMA REST
        """,
    ),
    Group(
        SEMANTIC,
        (Tag.FACT, Tag.PROJECT),
        0.85,
        r"I ADV RUNS (?:an? |my own |my )(?:\w+ ){0,4}VENTURE REST",
    ),
    Group(
        EPISODIC,
        (Tag.FACT,),
        0.8,
        r"""
        I ADV HIRED (?:an? |my )(?:\w+ ){0,3}(?:job|internship|position|promotion) REST
        I ADV CAREER REST
        """,
    ),
    Group(
        SEMANTIC,
        (Tag.FACT,),
        0.75,
        r"I am (?:also )?(?:part|a member|one) of (?:an? |the (?:local )?|my )OBJECT REST",
    ),
    # Family, pets, health
    Group(
        SEMANTIC,
        (Tag.FACT, Tag.RELATIONSHIP),
        0.85,
        r"""
        I ADV (?:have|had) (?:COUNT |no |(?=FAMILY))MODS FAMILYNAMED(?: JOINED .*)?
        my MODS FAMILY(?:'s? names?)? (?:is|are) (?:named |called )?(?P<person>NAMES)
        my MODS FAMILY,? (?P<person>NAME),? ADV (?:is|was|has|PREDICATE) REST
        my MODS FAMILY (?:is|are|was|were) BEING REST
        my MODS KINs? ADV (?:has|have|had|taught|were born|was born) OBJECT REST
        my MODS KINs? ADV PREDICATE(?: (?:in|at|for|as|to|away|from|on)\b.*| OBJECT.*)?
        I am (?:happily )?MARITAL REST
        """,
    ),
    Group(
        EPISODIC,
        (Tag.FACT, Tag.RELATIONSHIP),
        0.8,
        r"""
        I ADV got (?:married|engaged|divorced) REST
        I ADV (?:adopted|got) (?:an? |another |two |three )MODS FAMILY REST
        I ADV became an? MODS (?:KIN|ROLE) REST
        """,
        past=True,
    ),
    Group(
        SEMANTIC,
        (Tag.FACT, Tag.CONSTRAINT),
        0.85,
        r"""
        I (?:have|was diagnosed with|have been diagnosed with|suffer from) A MODS CONDITION REST
        I am (?:MOD )?(?:allergic|intolerant) to OBJECT REST
        """,
    ),
    # Preferences
    Group(
        SEMANTIC,
        (Tag.PREFERENCE, Tag.CONSTRAINT),
        0.9,
        r"I am (?:also )?(?:an? )?(?:MOD )?DIET REST",
    ),
    Group(
        SEMANTIC,
        (Tag.PREFERENCE,),
        0.85,
        r"I (?:do not|never|cannot) (?:eat|drink|smoke|like|enjoy|watch|own|drive|use|stand)TAIL",
        negative=True,
    ),
    Group(
        SEMANTIC,
        (Tag.FACT,),
        0.8,
        r"""
        I do not have (?:(?:any )?FAMILY|an? (?:job|degree|POSSESSION)) REST
        I (?:no longer|do not) (?:work|live|smoke|drink)(?: (?:at|for|in|with) OBJECT.*)?
        """,
        negative=True,
    ),
    Group(EPISODIC, (Tag.FACT,), 0.8, r"I (?:quit|stopped) (?:smoking|drinking|eating)TAIL"),
    Group(
        SEMANTIC,
        (Tag.PREFERENCE,),
        0.85,
        r"""
        (?:one of )?my FAVOURITE (?:\w+ ){1,4}?(?:is|are) OBJECT REST
        OBJECT (?:is|are) (?:one of )?my FAVOURITE(?: \w+){1,4}
        I ADV LIKE (?:to )?LIKING REST
        I am (?:really |very |also |super |quite )?KEEN LIKING REST
        I have (?:always )?(?:loved|liked|enjoyed|hated|been KEEN) LIKING REST
        """,
    ),
    # Possessions, skills, habits
    Group(
        SEMANTIC,
        (Tag.FACT,),
        0.8,
        r"""
        I ADV (?:have|own|drive|ride) (?:COUNT |my own )(?:\w+ ){0,3}?POSSESSIONs? REST
        my POSSESSION is an? OBJECT REST
        I (?:also )?(?:can )?(?:speak|understand) (?:FLUENT )?LANGUAGE REST
        I (?:can|know how to) (?:play|cook|swim|drive|code|ski|sew|juggle|ride) REST
        I ADV DOES(?: LIKING REST)?
        I ADV TAKES LIKING REST
        I ADV (?:do|practice|take) (?:\w+ ){0,2}EXERCISE REST
        I have been DOING (?!(?:for|on|with|in|at|out|up)\b)LIKING REST
        I have been (?!working on VAGUEPROJECT$)BUSYWITH (?:an? |my |some )?OBJECT REST
        I have been MARITAL REST
        I used to BASE OBJECT REST
        I ADV (?:use|am using) (?P<service>NAME) REST
        I am (?:on|running|using) (?P<service>SYSTEM) REST
        """,
    ),
    Group(
        EPISODIC,
        (Tag.FACT,),
        0.8,
        r"""
        I ADV BOUGHT (?:an? |my |my own |two )(?:\w+ ){0,3}?POSSESSIONs? REST
        I ADV (?:PAST|played) OBJECT.* when I was YOUNG
        """,
        past=True,
    ),
    # Projects and plans
    Group(
        SEMANTIC,
        (Tag.PROJECT,),
        0.8,
        r"""
        I am NOW learning LIKING REST
        I am NOW taking (?:an? |some )?(?=.*\b(?:class|course|lesson|workshop))OBJECT REST
        I am NOW MAKING (?!VAGUEPROJECT$)(?:an? |my (?:\w+ )?|two )OBJECT REST
        my SETUP (?:is|uses|runs(?: on)?|is (?:called|written in|built (?:with|on|in))) OBJECT REST
        """,
    ),
    Group(
        SEMANTIC,
        (Tag.DECISION, Tag.SCHEDULE),
        0.75,
        r"""
        I am NOW (?:planning|preparing|hoping) (?:to|on|for|a|an) OBJECT REST
        I (?:plan|intend|have decided|decided|want|have always wanted) to AIM OBJECT REST
        my (?:goal|dream|dream job|plan|aim) is to OBJECT REST
        """,
    ),
    Group(
        SEMANTIC,
        (Tag.DECISION, Tag.SCHEDULE),
        0.75,
        r"""
        I am (?:GOING (?:back )?(?:to|on|for)|HAVING (?:in an?|at an?|an?|my|for|some)) OBJECT REST
        I am HAVING PLACE REST
        I (?:will|have to|need to|am going to) (?:be )?TRAVEL OBJECT REST
        I have (?:an? |my )(?:\w+ ){0,3}APPOINTMENT REST
        """,
        dated=True,
    ),
    # What happened
    Group(
        EPISODIC,
        (Tag.FACT,),
        0.75,
        r"""
        I ADV had (?:an? |my |the )(?:\w+ ){0,3}?HAPPENING REST
        I ADV PAST (?!the (?:idea|same|whole)\b)OBJECT REST
        my MODS KINs? and I ADV (?:PAST|live|love|enjoy) OBJECT REST
        """,
        dated=True,
        past=True,
    ),
    Group(
        EPISODIC,
        (Tag.FACT,),
        0.7,
        r"""
        I ADV ACHIEVED (?:(?:an?|my|in an?|for an?|at an?|first) OBJECT|PLACE) REST
        I ADV PAST (?!the (?:idea|same|whole)\b)OBJECT.*(?-i: [A-Z]\w+).*
        """,
        past=True,
    ),
)

ENTITY_GROUPS = {
    "person": EntityType.PERSON,
    "place": EntityType.PLACE,
    "service": EntityType.SERVICE,
}


@cache
def patterns() -> tuple[tuple[Group, re.Pattern[str]], ...]:
    return tuple(
        (group, re.compile(_spelled_out(line), re.IGNORECASE))
        for group in GROUPS
        for line in phrases(group.lines)
    )


def _spelled_out(line: str) -> str:
    previous = ""
    while previous != line:  # entries are made of entries
        previous, line = line, _ENTRY.sub(lambda match: VOCABULARY[match[0]], line)
    return line


# Entries that bring their own space at the end come with the space that is written behind them.
_ENTRY = re.compile("|".join(sorted(VOCABULARY, key=len, reverse=True)))
