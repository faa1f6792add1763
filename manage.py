#!/usr/bin/env python
"""Entry point of Django's management commands."""

import os
import sys
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError

AT_FAULT = (
    "The database can't be used. See that it runs, that its disk has room and that DATABASE_URL,"
    " if you set it, is right; `manage.py doctor` looks further, --traceback tells where it was."
)


def main() -> None:
    # Variables that are set win over the file.
    environ.Env.read_env(Path(__file__).with_name(".env"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    except OperationalError as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"manage.py: {_first_line(error)}\n{AT_FAULT}")


def _first_line(error: OperationalError) -> str:
    """What follows it are hints and the statement, which may hold what people said."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


if __name__ == "__main__":
    main()
