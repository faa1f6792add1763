"""What settings.py reads from the environment beyond plain strings, numbers and lists."""

import contextlib
import os
import secrets
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from config import embedded
from config.errors import StartError

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}
POSTGRES = ("postgres://", "postgresql://")
MAKE_ONE = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"


class Environment(environ.FileAwareEnv):  # type: ignore[misc]
    """NAME_FILE, the path of a file that holds the value, is as good as NAME."""

    def get_value(self, var: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().get_value(var, *args, **kwargs)
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            raise StartError(f"{var}_FILE can't be read: {why}.") from error


def strict_bool(env: environ.Env, name: str, *, default: bool) -> bool:
    value = env.str(name, default="").strip().lower()
    if not value:
        return default
    if value not in TRUE | FALSE:
        raise StartError(f"{name} is {value!r}; it must be true or false.")
    return value in TRUE


def strict_int(env: environ.Env, name: str, *, default: int) -> int:
    value = env.str(name, default="").strip()
    if value and not value.isdecimal():
        raise StartError(f"{name} is {value!r}; it must be a number.")
    return int(value or default)


def choice(env: environ.Env, name: str, allowed: Sequence[str]) -> str:
    """One of the allowed values, in whatever case; the first one if nothing is said."""
    value = env.str(name, default="").strip()
    found = {one.casefold(): one for one in allowed}.get(value.casefold() or allowed[0].casefold())
    if found is None:
        raise StartError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")
    return found


def redis_url(env: environ.Env) -> str:
    """Empty where there is none. The value is not told in the error: it may hold a password."""
    value = env.str("REDIS_URL", default="").strip()
    if value and not value.startswith(("redis://", "rediss://")):
        raise StartError("REDIS_URL can't be read; it must look like redis://127.0.0.1:6379/0.")
    return str(value)


def networks(env: environ.Env, name: str) -> list[IPv4Network | IPv6Network]:
    try:
        return [ip_network(value.strip()) for value in env.list(name, default=[])]
    except ValueError as error:
        raise StartError(f"{name}: {error}; write 192.168.1.0/24, commas between.") from None


def secret(env: environ.Env, name: str, home: Path, *, make: bool) -> str:
    """From the environment, or else the one kept in home/secrets, made on first use.

    Raises StartError where there is neither: no server may start on a secret that others know.
    """
    value = env.str(name, default="").strip()
    if value:
        return str(value)
    if not make:
        raise StartError(
            f"{name} is not set. With DATABASE_URL set there is no default for it."
            f" Make one, once, and keep it: {MAKE_ONE}"
        )
    path = home / "secrets" / name.lower()
    try:
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(48))
        return path.read_text().strip()
    except OSError as error:
        raise StartError(f"Can't keep secrets in {path.parent}: {error.strerror}.") from error


def _write_once(path: Path, value: str) -> None:
    """Two processes may start at once: link() lets one of them win, with the file complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(value)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def databases(env: environ.Env) -> dict[str, dict[str, Any]]:
    """Alias default is the application's role, owner that of the tables (for migrations only)."""
    found = _remote(env) if env.str("DATABASE_URL", default="") else _embedded()
    size = strict_int(env, "DATABASE_POOL_SIZE", default=0)
    if size > 0:
        # Worth it in the web server only: commands are short, and workers have few threads.
        pool = {"min_size": 1, "max_size": size, "timeout": 10}
        found["default"].setdefault("OPTIONS", {})["pool"] = pool
    return found


def _remote(env: environ.Env) -> dict[str, dict[str, Any]]:
    found = {"default": _postgres(env, "DATABASE_URL")}
    if env.str("MIGRATION_DATABASE_URL", default=""):
        found["owner"] = _postgres(env, "MIGRATION_DATABASE_URL")
    return found


def _postgres(env: environ.Env, name: str) -> dict[str, Any]:
    """The value is not told in the error: it holds a password."""
    found: dict[str, Any] = {}
    # The library would warn of other schemes with the whole value.
    if env.str(name).strip().startswith(POSTGRES):
        with contextlib.suppress(ImproperlyConfigured, ValueError):
            found = env.db_url(name)
    if not found.get("NAME"):
        raise StartError(
            f"{name} can't be read; it must look like postgres://user:password@host:5432/database,"
            " with special characters of the password written as %23 and the like."
        )
    return found


def _embedded() -> dict[str, dict[str, Any]]:
    roles = {"default": embedded.APP_ROLE, "owner": embedded.OWNER_ROLE}
    return {
        alias: {"ENGINE": "config.postgres", "NAME": embedded.DATABASE, "USER": role, "HOST": ""}
        for alias, role in roles.items()
    }


def broker_folders(folder: Path) -> dict[str, str | float]:
    """One folder for both directions, so that any process can send and receive."""
    messages, control = str(folder / "messages"), str(folder / "control")
    return {
        "data_folder_in": messages,
        "data_folder_out": messages,
        "control_folder": control,
        # How often it is looked into. "Extract now" should not feel slow.
        "polling_interval": 0.2,
    }
