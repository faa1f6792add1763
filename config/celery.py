import logging.config
import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_process_init, worker_ready

import config.broker  # noqa: F401  (names the transport of CELERY_BROKER_URL)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("remembrancer")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def use_our_logging(**kwargs: Any) -> None:
    """Keeps Celery from installing its own handlers, which write what an exception says."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@worker_ready.connect
@worker_process_init.connect
def load_embedding_model(**kwargs: Any) -> None:
    """Once per process, before the first task that needs it. A prefork child has its own."""
    from memory import embedding

    embedding.warm_up()
