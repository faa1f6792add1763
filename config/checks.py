"""Misconfiguration that would otherwise show late, or never."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections

from agents.gate import MODES

SHORTEST_SECRET = 32

ROLE_QUERY = """
    SELECT rolsuper OR rolbypassrls OR rolcreaterole,
           EXISTS (SELECT FROM pg_class WHERE relowner = r.oid AND relkind IN ('r', 'p')
                   AND relnamespace = 'public'::regnamespace)
    FROM pg_roles r WHERE rolname = current_user
"""

Apps = Sequence[AppConfig] | None


@register(Tags.security)
def check_secrets(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = [
        Error(
            f"{name} is shorter than {SHORTEST_SECRET} characters.",
            hint="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(48))'",
            id="remembrancer.E001",
        )
        for name in ("SECRET_KEY", "HASH_KEY")
        if len(getattr(settings, name)) < SHORTEST_SECRET
    ]
    if settings.HASH_KEY == settings.SECRET_KEY:
        found.append(
            Error(
                "HASH_KEY is the same as SECRET_KEY.",
                hint="Give it a value of its own: it must survive a change of SECRET_KEY.",
                id="remembrancer.E002",
            )
        )
    return found


@register()
def check_memory_mode(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    if settings.MEMORY_MODE in MODES:
        return []
    return [
        Error(
            f"MEMORY_MODE is {settings.MEMORY_MODE!r}.",
            hint=f"Use one of {', '.join(MODES)}.",
            id="remembrancer.E003",
        )
    ]


@register(Tags.security)
def check_debug(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    if settings.EMBEDDED or not settings.DEBUG:
        return []
    return [
        Error(
            "DEBUG is on in a server set-up: error pages would show memory to anyone.",
            hint="Unset DEBUG.",
            id="remembrancer.E006",
        )
    ]


@register(Tags.database)
def check_application_role(
    app_configs: Apps, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Asks the database, so it runs only where the database is named: migrate, check --database."""
    if not databases or "default" not in databases:
        return []
    with connections["default"].cursor() as cursor:
        cursor.execute(ROLE_QUERY)
        mighty, owns = cursor.fetchone()
    return _about_role(mighty=mighty, owns=owns)


def _about_role(*, mighty: bool, owns: bool) -> list[CheckMessage]:
    hint = "DATABASE_URL must name a plain role; MIGRATION_DATABASE_URL the owner of the tables."
    found: list[CheckMessage] = []
    if mighty:
        found.append(
            Error("The application's role is all but a superuser.", hint, id="remembrancer.E004")
        )
    if owns:
        found.append(Error("The application's role owns tables.", hint, id="remembrancer.E005"))
    return found


@register(Tags.database, deploy=True)
def check_migration_url(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """A warning only: the web server and the workers are better off without that role."""
    if "owner" in settings.DATABASES:
        return []
    return [
        Warning(
            "MIGRATION_DATABASE_URL is not set, so migrate can't run from here.",
            hint="Set it where migrations run, to the role that owns the tables.",
            id="remembrancer.W001",
        )
    ]


@register(deploy=True)
def check_broker(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    if settings.EMBEDDED or settings.REDIS_URL:
        return []
    return [
        Warning(
            "REDIS_URL is not set: the broker is a folder, which other machines don't see.",
            hint="Set REDIS_URL unless web server and worker share REMEMBRANCER_HOME.",
            id="remembrancer.W002",
        )
    ]
