import logging

import pytest
from django.db import DatabaseError, OperationalError
from pytest_django import Settings

from config.logs import TextFreeFormatter

SECRET = "the user lives in Tampere"


def line(error: Exception, *, name: str = "memory", args: object = None) -> str:
    try:
        try:
            raise error
        except Exception as first:
            raise RuntimeError(f"while storing: {SECRET}") from first
    except RuntimeError as outer:
        info = (type(outer), outer, outer.__traceback__)
    record = logging.LogRecord(name, logging.ERROR, __file__, 1, "it failed", (), info)
    if args is not None:
        record.args = args  # type: ignore[assignment]
    return TextFreeFormatter().format(record)


@pytest.mark.parametrize("error", [ValueError(SECRET), KeyError(SECRET), DatabaseError(SECRET)])
def test_what_an_exception_quotes_stays_out(error: Exception) -> None:
    written = line(error)
    assert SECRET not in written
    assert type(error).__name__ in written
    assert "test_logs.py" in written


def test_what_an_operator_must_know_stays_in() -> None:
    assert "connection refused" in line(OperationalError("connection refused"))
    assert "No space left" in line(OSError(28, "No space left on device"))


def test_a_developer_sees_everything(settings: Settings) -> None:
    settings.DEBUG = True
    assert SECRET in line(ValueError(SECRET))


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"runtime": 1.5, "return_value": SECRET}, "task memory.tasks.sweep [7] done in 1.50 s"),
        ({"description": "raised unexpected", "exc": SECRET}, "[7] raised unexpected"),
    ],
)
def test_celerys_own_lines_carry_no_result(context: dict[str, object], expected: str) -> None:
    written = line(
        ValueError(SECRET),
        name="celery.app.trace",
        args={"name": "memory.tasks.sweep", "id": "7", **context},
    )
    assert expected in written
    assert SECRET not in written
