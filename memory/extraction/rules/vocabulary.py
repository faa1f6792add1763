"""The words in capitals of the patterns: precise rather than complete.

In the lists, a word with an underscore matches a space or a hyphen there.
"""

from memory.text.lists import listed


def any_of(words: str) -> str:
    longest_first = sorted(listed(words), key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(longest_first).replace('_', '[ -]')})"


# An object that begins like this is known only from another sentence, or is no thing at all.
_VAGUE = any_of("""
    it that this these those them you your yours him her his he she they their there here how what
    when where why who whatever everything anything nothing something someone everyone all both
    some one ones too so more each any us our we much many to_see_you to_hear seeing_you talking_to
    hearing such another other about even if a_lot a_bit a_few a_ton a_way a_good a_great a_time
    a_blast a_break a_chance a_look a_try a_peek a_picture a_pic a_photo an?_amazing an?_awesome
    a_wonderful a_fantastic an_incredible an_idea being_able
""")
# What may be liked with an article before it and nothing said before.
_KNOWN = any_of("""
    outdoors beach sea ocean mountains? snow rain cold heat sun piano guitar violin drums cello
    flute saxophone trumpet ukulele bass gym library theatre theater cinema countryside city night
    winter summer stars forest country smell_of sound_of taste_of
""")
_ADVERBS = any_of("""
    also really actually currently still usually often mostly only now finally generally personally
    always both mainly regularly just recently rarely originally
""")
_NO_MODS = any_of("""
    bit little lot big_fan huge total real such complete terrible horrible bad question problem
    feeling hard addition good_time great_time few
""")
_CAPITAL = r"(?-i:[A-Z][\w'’.-]*)"

# Family, friends, and what one calls them.
_RELATIVES = """
    wife husband partner spouse fiancé fiancée girlfriend boyfriend mother father mom mum dad mommy
    daddy parent sister brother sibling daughter son kid child children baby twin grandmother
    grandfather grandma grandpa granny grandparent grandson granddaughter grandkid grandchild aunt
    uncle cousin niece nephew stepson stepdaughter stepmother stepfather stepdad stepmom
    mother-in-law father-in-law sister-in-law brother-in-law roommate flatmate best_friend family
    neighbor neighbour
"""
_PETS = """
    dog cat puppy puppie kitten rabbit bunny hamster guinea_pig parrot bird fish turtle tortoise
    snake lizard gecko horse pony goat chicken ferret rat mouse pet labrador retriever poodle
    beagle terrier bulldog shepherd corgi husky dachshund chihuahua pug pup
"""
_ROLES = """
    \\w+ologist \\w+grapher \\w+wright \\w+keeper teacher engineer developer programmer designer
    writer dancer singer painter lawyer driver manager owner baker farmer gardener trainer
    photographer journalist artist scientist musician physician technician electrician librarian
    politician pediatrician dietitian beautician magician historian mathematician accountant
    assistant consultant student merchant waiter waitress nurse chef cook coach pilot doctor
    dentist pharmacist therapist psychologist psychiatrist surgeon vet veterinarian nanny clerk
    judge model barista bartender freelancer contractor carpenter plumber mechanic welder
    firefighter police_officer officer soldier marine veteran detective paramedic intern professor
    lecturer researcher tutor principal counselor counsellor social_worker translator editor author
    novelist poet blogger streamer youtuber gamer actor actress comedian director producer
    screenwriter animator architect analyst data_scientist economist banker trader realtor broker
    salesperson salesman saleswoman cashier secretary receptionist administrator sysadmin ceo cto
    cfo founder entrepreneur investor retiree janitor cleaner housekeeper hairdresser barber
    stylist tailor seamstress butcher fisherman athlete runner swimmer cyclist climber hiker surfer
    player guitarist pianist drummer bassist violinist dj rapper sculptor potter knitter crafter
    collector reader mother father mom mum dad parent grandmother grandfather grandma widow widower
    vegan vegetarian pescatarian pacifist atheist christian muslim buddhist hindu jew catholic
    mormon feminist introvert extrovert night_owl morning_person night_person early_bird dog_person
    cat_person dog_lover cat_lover animal_lover only_child twin immigrant refugee citizen native
    resident freshman sophomore junior senior postdoc phd_student undergraduate undergrad graduate
    alumnus volunteer activist minister pastor priest monk nun missionary foodie minimalist
    homeowner bodybuilder wrestler boxer goalkeeper quarterback cheerleader gymnast skater skier
    snowboarder golfer lifeguard flight_attendant truck_driver stay_at_home_mom stay_at_home_dad
    homemaker housewife woman man girl guy
"""
_VENTURES = """
    business company startup start-up shop store bakery café cafe restaurant bar studio agency farm
    clinic salon gym blog podcast channel website nonprofit charity school garage firm practice
    bookstore brewery brand foundation club
"""
_POSSESSIONS = """
    car truck van motorcycle motorbike bike bicycle scooter boat house home apartment flat condo
    cabin cottage garden farm pool guitar piano violin keyboard drum_set ukulele saxophone laptop
    computer desktop pc mac macbook iphone phone tablet ipad camera drone telescope console xbox
    playstation ps5 switch tv printer tattoo collection library aquarium greenhouse headset monitor
    treadmill kayak canoe tent motorhome rv camper convertible pickup suv sedan jeep minivan tesla
    toyota honda ford bmw audi mercedes porsche ferrari lamborghini volkswagen
"""
_CONDITIONS = """
    diabetes asthma adhd add autism epilepsy arthritis migraines eczema psoriasis anxiety
    depression bipolar_disorder insomnia celiac_disease celiac coeliac_disease hypertension
    high_blood_pressure cancer lupus fibromyalgia dyslexia ptsd ocd sleep_apnea heart_condition
    back_problems allergies hay_fever hearing_loss tinnitus scoliosis thyroid
"""
_LANGUAGES = """
    english spanish french german italian portuguese dutch swedish finnish norwegian danish polish
    russian ukrainian turkish arabic hebrew hindi urdu bengali mandarin cantonese chinese japanese
    korean thai vietnamese indonesian malay tagalog swahili greek latin hungarian czech romanian
    persian farsi tamil telugu sign_language asl esperanto
"""
_FIELDS = """
    it finance tech technology healthcare education marketing advertising sales retail construction
    insurance banking law accounting hospitality manufacturing logistics consulting engineering
    publishing journalism government security research agriculture hr human_resources real_estate
    customer_service software publishing design fashion media film television pharma biotech
    childcare landscaping aviation
"""
_PAST = """
    went saw met bought got took made ran won lost began started finished ended wrote read ate flew
    drove visited attended joined adopted moved celebrated hosted participated volunteered
    performed painted baked cooked watched played hiked camped traveled travelled climbed planted
    cleaned completed graduated passed failed broke injured hurt twisted sprained donated organized
    organised signed enrolled applied interviewed launched opened published released recorded built
    created designed learned tried competed presented gave received sold quit left found came spent
    swam rode sang danced married proposed discovered helped taught reconnected connected fell
    had_dinner stopped called
"""
_HAPPENINGS = """
    surgery operation baby accident interview exam test meeting appointment party wedding concert
    gig show game match barbecue bbq dinner picnic reunion lesson class workshop competition
    tournament audition checkup check-up miscarriage stroke heart_attack crash trip vacation
    holiday
"""

VOCABULARY = {
    # Entries that end in a space swallow the one written behind them.
    "ADV ": rf"(?:{_ADVERBS} )*",
    "MODS ": rf"(?:(?!{_NO_MODS}\b)[\w'-]+ )*?",
    "MOD": rf"(?!{_NO_MODS}\b)[\w'-]+",
    "NOW ": "(?:(?:currently|now|also|originally) )?",
    "A ": r"(?:an? |type \d )?",
    "QUANTITY": "(?:over |about |around |more than |almost )?",
    " REST": r"\b.*",
    "TAIL": r"\b(?: OBJECT.*)?",
    "JOINED": "(?:at|for|in|from|by|with|of|since|and|on|who|aged)",
    "NAMED": "(?:,? (?:named|called) (?P<person>NAMES))?",
    "NAMES": rf"{_CAPITAL}(?:(?:, | and |, and | & ){_CAPITAL})*(?!\w)",
    "NAME": rf"{_CAPITAL}(?: (?:de |van |von |la |of )?{_CAPITAL}){{0,3}}(?!\w)",
    "PLACE": (
        rf"(?:(?:the )?(?P<place>{_CAPITAL}(?:,? (?:of |de |the )?{_CAPITAL}){{0,4}})(?!\w)"
        r"|(?:an?|the|my) (?:[\w'-]+ ){0,4}SETTLEMENT\b)"
    ),
    "OBJECT": rf"(?!{_VAGUE}\b)[\w$€£'\"][^?]*?",
    "LIKING": (
        rf"(?:the (?:{_KNOWN}|colou?r (?!and\b)\w+"
        rf"|{_CAPITAL}(?: (?:of|the|and|in|{_CAPITAL}))*$)"
        rf"|(?!the\b|{_VAGUE}\b)[\w'\"][^?]*?)"
    ),
    "COUNT": r"(?:\d{1,2}|COUNTS)",
    "FAMILY": "(?:KIN|PET)s?",
    "WHOSE": "(?:my|an?|two|three)",
    "BEING": (
        r"(?:an? MODS ROLE|(?:originally )?from PLACE|\d+(?: years old)?"
        "|in (?:college|high school|the (?:army|navy|military)))"
    ),
    "FAVOURITE": "(?:all[- ]time )?favou?rites?",
    "FLUENT": "(?:fluent|some|a little|a bit of|basic)",
    "YOUNG": r"(?:young|younger|little|an? \w+|in \w+(?: school)?|\d+)",
    "VAGUEPROJECT": r"(?:an? |my |some )?(?:\w+ )?(?:projects?|things?|it|books?)",
    "SYSTEM": "(?-i:Windows|macOS|Mac|Linux|Ubuntu|Debian|Fedora|Arch|Android|iOS)",
    "HOME": "(?:place|house|home|apartment|flat)",
    "SETTLEMENT": any_of("""
        town city village suburbs? country countryside farm ranch house home apartment flat condo
        cabin coast mountains island state area neighbou?rhood dorm desert ocean sea beach
    """),
    "COUNTS": any_of("""
        an? one two three four five six seven eight nine ten twelve several a_couple_of a_pair_of
        an_older a_younger twin
    """),
    "KIN": any_of(_RELATIVES),
    "PET": any_of(_PETS),
    "ROLE": any_of(_ROLES) + r"\b",
    "VENTURE": any_of(_VENTURES),
    "POSSESSION": any_of(_POSSESSIONS),
    "CONDITION": any_of(_CONDITIONS),
    "LANGUAGE": any_of(_LANGUAGES),
    "FIELD": any_of(_FIELDS),
    "PAST": any_of(_PAST) + r"\b",
    "HAPPENING": any_of(_HAPPENINGS),
    "DIET": any_of("""
        vegan vegetarian pescatarian lactose_intolerant gluten_(?:free|intolerant) diabetic celiac
        keto kosher halal teetotal(?:er|ler)? left_handed colou?r_blind deaf blind transgender gay
        bisexual lesbian
    """),
    "STATUS": any_of("""
        disabled homeless bald tall short adopted an_orphan colou?r_?blind hard_of_hearing
    """),
    "MARITAL": any_of("""
        married divorced engaged single pregnant widowed retired unemployed self_employed sober
        vegan vegetarian expecting_(?:a|my|twins)
    """),
    # Verbs, as the speaker says them
    "LIVE": any_of("live reside am_based am_living have_lived have_been_living used_to_live"),
    "ORIGIN": any_of("""
        was_born was_raised was_born_and_raised grew_up come_from am_from am_originally_from
        hail_from
    """),
    "MOVED": any_of("moved relocated immigrated emigrated"),
    "BEEN": any_of("been_to visited lived_in travell?ed_to"),
    "WORK": any_of("work am_working have_worked have_been_working worked used_to_work"),
    "JOB": any_of("job_title job occupation profession employer boss manager major degree field"),
    "STUDY": any_of("am_studying study am_majoring_in majored_in studied"),
    "ATTEND": any_of("am_in go_to am_attending attend"),
    "SCHOOL": any_of("""
        college university high_school law_school med_school medical_school grad_school art_school
    """),
    "DIPLOMA": any_of("""
        degree phd master's bachelor's diploma certificate certification licen[sc]e
    """),
    "RUNS": any_of("""
        run own manage founded co-founded opened started launched am_opening am_starting am_running
    """),
    "HIRED": any_of("got landed started accepted took found lost quit left have"),
    "CAREER": any_of("""
        retired graduated dropped_out (?:got|was)_hired (?:got|was)_fired (?:got|was)_promoted
        (?:got|was)_laid_off (?:got|was)_accepted_(?:to|into|at)
    """),
    "PREDICATE": any_of("""
        works? lives? loved? loves likes? hates? enjoys? stud(?:y|ies) plays? turned moved died
        passed_away teach(?:es)? got_married
    """),
    "LIKE": any_of("love like enjoy adore prefer hate dislike detest"),
    "KEEN": any_of("""
        into passionate_about fond_of interested_in obsessed_with addicted_to
        a_(?:big_|huge_)?fan_of an?_(?:avid|big|huge)_(?:\\w+_)?fan_of scared_of afraid_of
        terrified_of
    """),
    "DOES": any_of("""
        play teach mentor coach volunteer collect write paint sing dance bake knit code surf ski
        climb hike garden meditate run swim cook practice
    """),
    "TAKES": r"(?:listen to|grow|breed|raise|rent|eat|drink|watch|read (?!an? |my |the )|wear)",
    "EXERCISE": any_of("""
        yoga pilates karate judo taekwondo martial_arts gymnastics crossfit marathons classes
        lessons
    """),
    "DOING": any_of("""
        playing teaching coaching volunteering collecting writing painting singing dancing baking
        knitting coding surfing skiing climbing hiking gardening meditating running swimming
        cooking practicing learning studying taking working training living making driving building
        developing
    """),
    "BUSYWITH": any_of("""
        working_(?:on|at|for|in|as) living_in training_for volunteering_(?:at|for|with) living_with
        saving_(?:up_)?for
    """),
    "BASE": any_of("""
        play work live teach coach write paint sing dance run swim collect drive own have love like
        hate eat smoke go be do study volunteer visit
    """),
    "MAKING": any_of("""
        working_on building developing writing designing creating training_for training_to
        applying_(?:to|for) saving_(?:up_)?for recovering_from researching volunteering_at making
        organizing hosting
    """),
    "SETUP": any_of("""
        stack tech_stack setup os operating_system editor ide team server database website app
        company startup project
    """),
    "AIM": any_of("""
        become be learn move study start open buy get visit travel go run write apply adopt build
        take try join work create make volunteer teach
    """),
    "GOING": any_of("going moving travell?ing flying heading driving"),
    "HAVING": any_of("""
        visiting starting getting having meeting attending hosting running taking doing seeing
        performing competing opening launching leaving
    """),
    "TRAVEL": any_of("""
        go going move moving travel\\w* fly flying visit\\w* leave leaving start\\w* attend\\w*
        host\\w* run running perform\\w* compet\\w* open\\w* launch\\w* take taking present\\w*
    """),
    "BOUGHT": any_of("bought purchased sold got"),
    "APPOINTMENT": any_of("""
        appointment interview exam meeting flight surgery competition tournament show recital
        deadline wedding race marathon performance audition gig test trip vacation game match
        concert
    """),
    "ACHIEVED": any_of("""
        won finished completed published performed competed joined enrolled signed_up started ran
        visited travell?ed_to broke lost
    """),
}
