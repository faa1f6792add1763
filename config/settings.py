"""Settings, read from the environment. docs/operations.md lists every variable."""

from pathlib import Path

import django_stubs_ext
import environ

from config.environment import databases, local_secret, strict_bool

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
# NAME_FILE, the path of a file that holds the value, is as good as NAME.
env = environ.FileAwareEnv()

HOME = Path(env.str("REMEMBRANCER_HOME", default="") or BASE_DIR / ".data").resolve()
# With no DATABASE_URL everything runs on this machine, with its data and secrets in HOME.
EMBEDDED = not env.str("DATABASE_URL", default="")
DEBUG = strict_bool(env, "DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or local_secret(HOME, "secret_key", make=EMBEDDED)
# Keys the hashes that purged facts leave behind. Not SECRET_KEY, so that the one can be changed
# without forgetting what was purged.
HASH_KEY = env.str("HASH_KEY", default="") or local_secret(HOME, "hash_key", make=EMBEDDED)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "csp",
    "django_htmx",
    "pgtrigger",
    "template_partials",
    "config",
    "agents",
    "conversations",
    "memory",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
AUTH_USER_MODEL = "agents.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Two roles on one database: the application may not own tables; migrations run as their owner.
DATABASES = databases(env)

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]

# disabled, default_off or default_on: what holds for owners who never chose (design: double gate).
MEMORY_MODE = env.str("MEMORY_MODE", default="default_on")
