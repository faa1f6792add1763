"""The closed lists of the knowledge base."""

from django.db import models


class DocumentOrigin(models.TextChoices):
    UPLOAD = "upload", "Uploaded"
    WEB = "web", "From the web"
    API = "api", "Sent by a client"
    OUTCOME = "outcome", "An assistant's outcome"


class DocumentState(models.TextChoices):
    """waiting -> converting -> indexing -> ready; from any of them -> failed, and from there or
    from ready back to waiting. What answered before goes on answering until the new passages are
    in."""

    WAITING = "waiting", "Waiting"
    CONVERTING = "converting", "Being read"
    INDEXING = "indexing", "Being indexed"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"


BUSY = (DocumentState.CONVERTING, DocumentState.INDEXING)


class Stage(models.TextChoices):
    """What a busy document is at, for whoever watches; `progress` counts in its unit."""

    NONE = "", ""
    FETCHING = "fetching", "Fetching the page"
    CONVERTING = "converting", "Reading pages"
    SPLITTING = "splitting", "Cutting it into passages"
    EMBEDDING = "embedding", "Indexing passages"


class PassageKind(models.TextChoices):
    TEXT = "text", "Text"
    OCR = "ocr", "Text recognised in an image"
    CAPTION = "caption", "Caption of an image"
    READ = "read", "Text in an image, read by a language model"
    VISION = "vision", "Image described by a language model"


class Failure(models.TextChoices):
    """Why a document could not be read. Those in TRANSIENT are tried again by themselves."""

    UNSUPPORTED = "unsupported", "Not a kind of file that can be read"
    EMPTY = "empty", "Nothing to read in it"
    DAMAGED = "damaged", "Damaged"
    PROTECTED = "protected", "Protected with a password"
    TOO_LARGE = "too_large", "Too large"
    TOO_LONG = "too_long", "Too many pages"
    UNPACKS = "unpacks", "Unpacks to far more than it is"
    HOSTILE = "hostile", "Made in a way that no honest file is"
    TOO_HEAVY = "too_heavy", "Takes too much memory or time"
    DUPLICATE = "duplicate", "The same as another document of its collection"
    REFUSED = "refused", "The address may not be read"
    UNREACHABLE = "unreachable", "The address can't be reached"
    BROKEN_OFF = "broken_off", "Broken off"
    INTERNAL = "internal", "A fault of this application"


TRANSIENT = (Failure.UNREACHABLE, Failure.BROKEN_OFF, Failure.INTERNAL)
