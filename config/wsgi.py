import os
import threading

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("DATABASE_POOL_SIZE", "10")

application = get_wsgi_application()


def _warm_up() -> None:
    from memory import embedding
    from memory.recall import dates_elsewhere

    dates_elsewhere.warm_up()
    embedding.warm_up()


# Takes seconds, so it happens beside the first requests; /healthz says when it is done.
threading.Thread(target=_warm_up, name="embedding-warm-up", daemon=True).start()
