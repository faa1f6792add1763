"""The closed word lists of the product, used alike by code, API, prompts and pages."""

from django.db.models import TextChoices


class State(TextChoices):
    """The state of a fact.

    ::

        born ──► pending ──► active ──► archived
                   │  ▲        │            │
                   │  └────────┘ quarantine │ restore: back to archived_from
                   ▼
                rejected ──► pending (reconsider)
    """

    PENDING = "pending"
    ACTIVE = "active"
    REJECTED = "rejected"
    ARCHIVED = "archived"


class Kind(TextChoices):
    SEMANTIC = "semantic", "Durable fact or preference"
    EPISODIC = "episodic", "Something that happened"
    PROCEDURAL = "procedural", "How to do something"


class Origin(TextChoices):
    EXTRACTION = "extraction"
    REFLECTION = "reflection"
    MERGE = "merge"
    REMEMBER = "remember"
    MANUAL = "manual"
    IMPORT = "import"


class ArchivedReason(TextChoices):
    SUPERSEDED = "superseded", "A newer fact took its place"
    MERGED = "merged", "Merged into another fact"
    STALE = "stale", "Neither confirmed nor used for long"
    FORGOTTEN = "forgotten", "The owner asked to forget it"
    DUPLICATE = "duplicate", "Another candidate says the same"
    AGED_OUT = "aged_out", "Waited too long for a decision"
    REPLACED = "replaced", "A newer correction of the same fact arrived"
    UNDONE = "undone", "The step that made it was taken back"
    ENDED = "ended", "It no longer holds"
    # Nothing is left of it but its place: set by the purge function alone.
    PURGED = "purged", "Purged"


class Precision(TextChoices):
    DAY = "day"
    MONTH = "month"
    YEAR = "year"


class Tag(TextChoices):
    PREFERENCE = "preference"
    DECISION = "decision"
    FACT = "fact"
    CONSTRAINT = "constraint"
    CONFIRMED_ACTION = "confirmed_action"
    PROJECT = "project"
    LOCATION = "location"
    SCHEDULE = "schedule"
    RELATIONSHIP = "relationship"


class EntityType(TextChoices):
    PERSON = "person"
    PROJECT = "project"
    SERVICE = "service"
    PREFERENCE = "preference"
    DECISION = "decision"
    TOPIC = "topic"
    PLACE = "place"


class Withheld(TextChoices):
    """Why policy left a candidate for the owner. The label is what the review queue shows."""

    DURABLE = "durable", "Durable facts and preferences always wait for you"
    PROCEDURAL = (
        "procedural",
        "How-to facts always wait for you, because instructions could hide in them",
    )
    EVENTS_WAIT = "events_wait", "Your settings let no event in by itself"
    LOW_CONFIDENCE = "low_confidence", "The observer was not sure enough"
    NO_DATE = "no_date", "No resolved date in the past"
    DIRECTIVE = "directive", "Looks like an instruction"
    CONTACT = "contact", "Holds contact or payment data"
    HIDDEN_TEXT = "hidden_text", "Holds hidden or confusable characters"
    ADDRESSES_ASSISTANT = "addresses_assistant", "Speaks to the assistant"
    NOT_TYPED = (
        "not_typed",
        "Not traced to words that you typed: pasted, quoted, made by a tool, or of no source",
    )
    DOCUMENT = "document", "Read from a document, not said by you"
    OTHER_WORDS = "other_words", "Says it in other words than you did"
    ASSISTANT_CLAIM = "assistant_claim", "The assistant said it and you agreed"
    CORRECTION = "correction", "Would replace a fact you already accepted"
    NEAR_DUPLICATE = "near_duplicate", "Close to another fact"
    NOT_COMPARED = "not_compared", "Was not compared with what you already have"
    RULE_BASED = "rule_based", "Found by the built-in rules, without a language model"
    CAP_REACHED = "cap_reached", "The limit of active facts is reached"
    GLOBAL_SCOPE = "global_scope", "Would be visible to every assistant"
    DERIVED = "derived", "Concluded from other facts, not said by you"
    TARGET_GONE = "target_gone", "The fact it would have replaced is no longer active"
    QUARANTINED = "quarantined", "You sent everything from its source back to the queue"


# Reasons that warn of the text itself; the others only say which rule made it wait.
WARNINGS = frozenset(
    {
        Withheld.DIRECTIVE,
        Withheld.CONTACT,
        Withheld.HIDDEN_TEXT,
        Withheld.ADDRESSES_ASSISTANT,
        Withheld.NOT_TYPED,
        Withheld.DOCUMENT,
        Withheld.ASSISTANT_CLAIM,
        Withheld.TARGET_GONE,
    }
)


class Gate(TextChoices):
    """Why policy dropped a candidate, or folded it into a fact that already exists."""

    NOT_ABOUT_OWNER = "not_about_owner", "Not about the owner"
    GENERAL_KNOWLEDGE = "general_knowledge", "General knowledge"
    CHANGES_NOTHING = "changes_nothing", "Would change nothing the assistant does"
    QUOTE_NOT_FOUND = "quote_not_found", "The quote is not in the message"
    NOT_OWNER_SPOKEN = "not_owner_spoken", "The owner did not say it"
    RECALLED_ECHO = "recalled_echo", "Restates what recall put into the conversation"
    HEADER_ECHO = "header_echo", "Restates the header of a digest"
    UNRESOLVED_DATE = "unresolved_date", "A relative date was left unresolved"
    BATCH_DUPLICATE = "batch_duplicate", "Said twice in one reply"
    SAME_AS_ACTIVE = "same_as_active", "Restates an active fact (reinforced)"
    SAME_AS_PENDING = "same_as_pending", "Already waiting (evidence added)"
    SAME_AS_REJECTED = "same_as_rejected", "Rejected before"
    TOMBSTONED = "tombstoned", "Purged or forgotten before"
    CREDENTIAL = "credential", "Holds a credential"
    BAD_HANDLE = "bad_handle", "The reflector named a fact that it was not shown"
    NO_CONFIRMATION = "no_confirmation", "A confirmed action without its confirmation quote"
    SKIPPED = "skipped", "The reflector saw nothing new"
    OVER_LIMIT = "over_limit", "More candidates than one reply may hold"


class Trigger(TextChoices):
    """What made a conversation due for extraction."""

    IDLE = "idle", "Idle for 20 minutes"
    BACKLOG = "backlog", "Five unread exchanges"
    COMPACTION = "compaction", "About to be summarised away"
    OUTCOME = "outcome", "Digest of a mission or agent run"
    REQUEST = "request", "Asked for"
    RETRY = "retry", "Retry after a failure"
    BACKFILL = "backfill", "Backfill"


class Repair(TextChoices):
    """What bulk repair does to each chosen fact. The labels are those of the admin's actions."""

    CONFIRM = "confirm", "Confirm"
    REJECT = "reject", "Reject"
    ARCHIVE = "archive", "Forget (archive)"
    RESTORE = "restore", "Restore"
    RECONSIDER = "reconsider", "Reconsider"
    MOVE = "move", "Move to another assistant"
    PROMOTE = "promote", "Make global"
    MERGE = "merge", "Merge into one"
    REEMBED = "reembed", "Make the vector anew"
    READ_AGAIN = "read_again", "Read the source again"
    PURGE = "purge", "Purge"


class Quality(TextChoices):
    """How the exchange of a case ended."""

    SUCCESS = "success", "It worked"
    PARTIAL = "partial", "It worked in part"
    FAILURE = "failure", "It did not work"


class CaseOrigin(TextChoices):
    EXTRACTION = "extraction"
    IMPORT = "import"


class CaseArchivedReason(TextChoices):
    FORGOTTEN = "forgotten", "The owner asked to forget it"
    STALE = "stale", "Not used for long"
    AGED_OUT = "aged_out", "Waited too long for a decision"
    UNDONE = "undone", "The step that made it was taken back"


class RuleOrigin(TextChoices):
    """Whence the owner has the wording of a rule; a person wrote or ticked each."""

    WRITTEN = "written", "Written here"
    REVIEW = "review", "Made of a candidate"
    IMPORT = "import", "From a file"


class WebhookEvent(TextChoices):
    """What a webhook can be told of."""

    CANDIDATE_WAITING = "candidate.waiting", "A candidate waits for a decision"
    FACT_ACTIVATED = "fact.activated", "A fact became active"
    FACT_SUPERSEDED = "fact.superseded", "A newer fact took a fact’s place"
    FACT_PURGED = "fact.purged", "A fact was purged"
