from django.apps import AppConfig
from django.conf import settings

from config.errors import StartError


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # Registers the checks, and makes our Celery application the one that tasks belong to.
        from config import celery, checks  # noqa: F401

        if not settings.REDIS_URL:
            _make_broker_folders()


def _make_broker_folders() -> None:
    """Any process may send a task, also before anything else ran."""
    try:
        for name in ("messages", "control"):
            (settings.BROKER_FOLDER / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"Can't write to {settings.BROKER_FOLDER}: {error.strerror}.") from error
