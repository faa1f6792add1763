"""Where mail goes out, from one address such as smtp+tls://user:password@mail.example.org:587."""

from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from config.errors import StartError

# Seconds; a mail server that hangs keeps a worker no longer.
TIMEOUT = 20


def mail(url: str) -> dict[str, Any]:
    """Django's settings for it; without an address mail goes nowhere. Raises StartError."""
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    try:
        if not urlsplit(url).hostname and urlsplit(url).scheme.startswith("smtp"):
            raise ImproperlyConfigured("no host")
        return {"EMAIL_TIMEOUT": TIMEOUT, **environ.Env.email_url_config(url)}
    except (ImproperlyConfigured, ValueError) as error:
        raise StartError(
            "EMAIL_URL can't be read; it must look like"
            " smtp+tls://user:password@mail.example.org:587."
        ) from error
