"""Settings, read from the environment. docs/operations.md lists every variable."""

from pathlib import Path

import django_stubs_ext
from csp.constants import NONE, SELF

from config.environment import (
    Environment,
    broker_folders,
    choice,
    databases,
    networks,
    redis_url,
    secret,
    strict_bool,
    strict_int,
)
from config.llm_routes import llm_routes, upstream
from config.mail import mail

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()

HOME = Path(env.str("REMEMBRANCER_HOME", default="") or BASE_DIR / ".data").resolve()
# With no DATABASE_URL everything runs on this machine, with its data and secrets in HOME.
EMBEDDED = not env.str("DATABASE_URL", default="")
DEBUG = strict_bool(env, "DEBUG", default=False)
SECRET_KEY = secret(env, "SECRET_KEY", HOME, make=EMBEDDED)
# Keys the hashes that purged facts leave behind. Not SECRET_KEY, so that the one can be changed
# without forgetting what was purged.
HASH_KEY = secret(env, "HASH_KEY", HOME, make=EMBEDDED)

PORT = strict_int(env, "PORT", default=8000)
PUBLIC_URL = env.str("PUBLIC_URL", default="").rstrip("/") or f"http://127.0.0.1:{PORT}"
# Health checks ask on the loopback interface, whatever the name that people use.
ALLOWED_HOSTS = [*env.list("ALLOWED_HOSTS", default=[]), "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

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
    "knowledge",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.sizes.RequestSizes",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.hangups.HangUps",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "agents.middleware.AuditContext",
    "agents.replies.Replies",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.problems.UnknownAddress",
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

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
# The first only counts.
AUTHENTICATION_BACKENDS = [
    "agents.tries.Counted",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/review/"
LOGOUT_REDIRECT_URL = "login"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# The embedded set-up serves the files where they lie; an image has them collected, compressed and
# named by their content.
STATIC_ROOT = None if EMBEDDED else BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = EMBEDDED
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if EMBEDDED
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# Said by the operator, because a proxy in front hides it. It must set X-Forwarded-Proto itself.
HTTPS = strict_bool(env, "HTTPS", default=False)
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
# Whether the whole domain speaks HTTPS is not ours to promise.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "remembrancer_session"
CSRF_COOKIE_NAME = "remembrancer_csrf"
CSRF_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# The broker carries hints only: ids of rows to look at. No result is kept, and losing it loses
# nothing. Without REDIS_URL it is a folder.
REDIS_URL = redis_url(env)
BROKER_FOLDER = HOME / "broker"
CELERY_BROKER_URL = REDIS_URL or "folder://localhost//"  # config/broker.py
CELERY_BROKER_TRANSPORT_OPTIONS = {} if REDIS_URL else broker_folders(BROKER_FOLDER)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "remembrancer"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Seconds that a worker asked to stop may spend waiting for its own clock.
CELERY_WORKER_TIMER_PRECISION = 0.5
CELERY_BEAT_SCHEDULE = {
    # A sweep that no worker took within its minute is worth nothing: the next one looks again.
    "sweep": {"task": "memory.tasks.sweep", "schedule": 60.0, "options": {"expires": 55}},
    "bulk": {"task": "memory.tasks.sweep_bulk", "schedule": 60.0, "options": {"expires": 55}},
    "embed": {"task": "memory.tasks.embed_missing", "schedule": 60.0, "options": {"expires": 55}},
    "documents": {"task": "knowledge.tasks.sweep", "schedule": 60.0, "options": {"expires": 55}},
    "webhooks": {
        "task": "memory.tasks.sweep_webhooks",
        "schedule": 15.0,
        "options": {"expires": 14},
    },
    "digest": {"task": "memory.tasks.mail_digests", "schedule": 600.0, "options": {"expires": 590}},
    "consolidate": {
        "task": "memory.tasks.sweep_consolidation",
        "schedule": 60.0,
        "options": {"expires": 55},
    },
}

LOG_LEVEL = choice(env, "LOG_LEVEL", ("INFO", "DEBUG", "WARNING", "ERROR", "CRITICAL"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "config.logs.TextFreeFormatter",
            "format": "{asctime} {levelname} {name} {message}",
            "style": "{",
        }
    },
    "filters": {"no health checks": {"()": "config.logs.NoHealthChecks"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.request": {"filters": ["no health checks"]},
        # A line for each task when it is done is enough.
        "celery.worker.strategy": {"level": "WARNING"},
        # They write request bodies, and a line for every request to a model.
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        # Three lines for every request.
        "mcp": {"level": "WARNING"},
        "anthropic": {"level": "WARNING"},
        # Django's own handlers would write everything twice.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
    },
}

# disabled, default_off or default_on: what holds for owners who never chose (design: double gate).
MEMORY_MODE = env.str("MEMORY_MODE", default="default_on")

# The language model that reads conversations, and the one for conversations marked sensitive,
# which wait where it is not set. Without LLM_MODEL the built-in rules read the others. The one that
# describes pictures of documents stands at the first one's endpoint, unless it names its own.
LLM_ROUTES = llm_routes(env)
# For one question to the model, its one retry included.
LLM_TIMEOUT_SECONDS = strict_int(env, "LLM_TIMEOUT_SECONDS", default=180)
LLM_MAX_INPUT_TOKENS = strict_int(env, "LLM_MAX_INPUT_TOKENS", default=60_000)
LLM_MAX_OUTPUT_TOKENS = strict_int(env, "LLM_MAX_OUTPUT_TOKENS", default=8_000)
# Renewed before every question to the model, so that it only has to outlast one of them. An owner's
# conversations wait for it while a worker hangs; one that was killed is replaced at once.
EXTRACTION_LEASE_SECONDS = strict_int(
    env, "EXTRACTION_LEASE_SECONDS", default=LLM_TIMEOUT_SECONDS + 60
)

# Where chats pass through to (docs/proxy.md), with its own key; without an address none do. How
# long that server may say nothing, and how many chats may pass through one process at a time.
UPSTREAM = upstream(env)
UPSTREAM_TIMEOUT_SECONDS = strict_int(env, "UPSTREAM_TIMEOUT_SECONDS", default=300)
UPSTREAM_STREAMS = strict_int(env, "UPSTREAM_STREAMS", default=16)

# Networks that web hooks and web sources may ask although they are private, such as 192.168.1.0/24.
OUTBOUND_NETWORKS = networks(env, "OUTBOUND_NETWORKS")

# A folder with a sentence-transformers model, instead of the packaged one; the languages that it
# tells apart, as ISO 639 codes; and how many cores one call of it may use.
EMBEDDING_MODEL = env.str("EMBEDDING_MODEL", default="")
EMBEDDING_LANGUAGES = env.list("EMBEDDING_LANGUAGES", default=[])
EMBEDDING_THREADS = strict_int(env, "EMBEDDING_THREADS", default=0)

# Documents: the size of an original, and what reading one may take of memory and time.
KNOWLEDGE_MAX_BYTES = strict_int(env, "KNOWLEDGE_MAX_BYTES", default=50_000_000)
KNOWLEDGE_MEMORY_BYTES = strict_int(env, "KNOWLEDGE_MEMORY_BYTES", default=2_000_000_000)
KNOWLEDGE_SECONDS = strict_int(env, "KNOWLEDGE_SECONDS", default=1800)

# Where mail goes out: the daily note of how much waits for review. Without it none is sent.
MAIL_ON = bool(env.str("EMAIL_URL", default=""))
vars().update(mail(env.str("EMAIL_URL", default="")))
DEFAULT_FROM_EMAIL = env.str("MAIL_FROM", default="") or "remembrancer@localhost"

# That a key may make of each kind: reading, writing, recall. 0: any number.
API_CALLS_PER_MINUTE = strict_int(env, "API_CALLS_PER_MINUTE", default=1200)

# A batch of messages near their limit of 1 MB each.
DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000_000
