from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # Registers the checks, and makes our Celery application the one that tasks belong to.
        from config import celery, checks  # noqa: F401
