"""Log lines without what people said: no exception message that may quote a row or a reply."""

import logging
import traceback
from collections.abc import Iterator
from types import TracebackType

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError

# Their messages name files, hosts and attributes, never rows. A KeyError, a DatabaseError or a
# validation error quotes the value at fault.
OPEN = (OSError, ImportError, AttributeError, NameError, ImproperlyConfigured, OperationalError)

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class TextFreeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        if record.name == "celery.app.trace" and isinstance(record.args, dict):
            record = _without_outcome(record)
        return super().format(record)

    def formatException(self, ei: ExcInfo) -> str:
        if settings.DEBUG:
            return super().formatException(ei)
        return "\n".join(_lines(ei[1])) if ei[1] is not None else ""


class NoHealthChecks(logging.Filter):
    """A 503 while the model loads is an answer, not an error; health.py logs what is wrong."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(getattr(record, "request", None), "path", "") != "/healthz"


def _without_outcome(record: logging.LogRecord) -> logging.LogRecord:
    """Celery puts the return value or the exception's message into the line itself."""
    context = record.args
    assert isinstance(context, dict)  # noqa: S101
    copy = logging.makeLogRecord(record.__dict__)
    done = "runtime" in context
    what = f"done in {context['runtime']:.2f} s" if done else context.get("description", "retried")
    copy.msg, copy.args = f"task {context.get('name')} [{context.get('id')}] {what}", None
    return copy


def _lines(error: BaseException) -> Iterator[str]:
    for link in reversed(list(_chain(error))):
        for frame in traceback.extract_tb(link.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} in {frame.name}"
        said = f": {link}" if isinstance(link, OPEN) else " (message left out)"
        yield f"{type(link).__module__}.{type(link).__qualname__}{said}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
