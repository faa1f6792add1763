"""What stands around the database: settings, disk, models, broker, worker and beat."""

import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import connection
from django.utils import timezone
from pydantic import BaseModel

from agents.wording import counted
from config.doctor.values import Finding, note, ok, some, trouble
from memory import embedding, heartbeat, llm, reembed, sample
from memory.models import Webhook

SCARCE, TOO_LITTLE = 2_000_000_000, 500_000_000
PATIENCE = 10
START = "Start them: make up, or docker compose up --detach worker beat."


_CHECKS = {
    llm.GENERAL: "language model",
    llm.PRIVATE: "private language model",
    llm.VISION: "language model for pictures",
}
_PREFIXES = {llm.GENERAL: "LLM", llm.PRIVATE: "LLM_PRIVATE", llm.VISION: "LLM_VISION"}


class Ping(BaseModel):
    answer: str


def configuration() -> Finding:
    """What `manage.py check` finds, but for hints about set-ups that may be meant so."""
    found = [one for one in checks.run_checks() if one.is_serious(checks.ERROR)]
    if found:
        said = some([str(one.msg).rstrip(".") for one in found])
        return trouble("settings", f"{said}.", some([one.hint or "" for one in found]))
    return ok("settings", "No errors.")


def disk() -> Finding:
    folder = settings.HOME if settings.HOME.exists() else settings.BASE_DIR
    free = shutil.disk_usage(folder).free
    said = f"{free / 1e9:.1f} GB are free at {folder}."
    where = "" if settings.EMBEDDED else " The database's own disk can't be seen from here."
    if free < TOO_LITTLE:
        return trouble(
            "disk", said + where, "Make room: a database without any stops in the middle."
        )
    if free < SCARCE:
        return note("disk", said + where, "Make room before it gets less.")
    return ok("disk", said + where)


def with_database() -> Iterator[Finding]:
    yield embedding_model()
    yield beat()
    yield stuck()
    yield webhooks()


def webhooks() -> Finding:
    stopped = Webhook.objects.exclude(stopped="").count()
    if stopped:
        return note(
            "webhooks",
            f"Nothing got through, so this was switched off: {counted(stopped, 'webhook')}.",
            "Their owners can switch them on again (Settings, Webhooks) once the receivers answer.",
        )
    return ok("webhooks", f"{Webhook.objects.filter(enabled=True).count()} are on.")


def embedding_model() -> Finding:
    check, name = "embedding model", embedding.MODEL
    try:
        [vector] = embedding.embed_blocking(["doctor"])
    except Exception as error:
        return trouble(
            check,
            f"{name} can't be loaded ({type(error).__name__}: {error}).",
            "See EMBEDDING_MODEL: a folder with a sentence-transformers model, or unset.",
        )
    if wrong := _other_dimensions(len(vector)):
        return trouble(
            check,
            f"{wrong} vectors labelled {name} have not its {len(vector)} dimensions.",
            "Another model had the same name. Rename the folder of the new one, set "
            "EMBEDDING_MODEL to it, and run manage.py reembed.",
        )
    return _vectors(check, name, len(vector))


def _other_dimensions(dimensions: int) -> int:
    with connection.cursor() as cursor:
        counts = []
        for kind in reembed.KINDS:
            cursor.execute(
                f'SELECT count(*) FROM "{kind.vectors._meta.db_table}"'  # noqa: S608
                " WHERE model = %s AND vector_dims(vector) <> %s",
                [embedding.MODEL, dimensions],
            )
            counts.append(int(cursor.fetchone()[0]))
    return sum(counts)


def _vectors(check: str, name: str, dimensions: int) -> Finding:
    missing = {what: number for what, number in reembed.missing().items() if number}
    if old := reembed.old():
        return note(
            check,
            f"There are vectors of {some(list(old))} beside those of {name}.",
            "Finish the change of models: manage.py reembed.",
        )
    if missing:
        found = ", ".join(f"{number:,} {what}" for what, number in missing.items())
        return note(
            check,
            f"{name} works, but {found} have no vector yet.",
            "The worker makes them, some each minute; manage.py reembed makes them now.",
        )
    return ok(check, f"{name} ({dimensions} dimensions); every row has its vector.")


def beat() -> Finding:
    last = heartbeat.last()
    if last is None:
        return trouble("worker and beat", "They have never been at work.", START)
    age = timezone.now() - last.at
    if age > heartbeat.SILENT:
        minutes = int(age.total_seconds() // 60)
        return trouble(
            "worker and beat", f"No sign of life for {minutes} minutes, last of {last.host}.", START
        )
    if used := reembed.still_used():
        return trouble(
            "worker and beat",
            f"The worker makes vectors with {used[0].embedding_model}, not {embedding.MODEL}.",
            "Restart web server and worker, so that all use the same EMBEDDING_MODEL.",
        )
    return ok("worker and beat", f"At work {int(age.total_seconds())} seconds ago.")


def stuck() -> Finding:
    from conversations.models import Conversation

    number = Conversation.objects.filter(stuck_at__isnull=False).count()
    if number:
        return note(
            "extraction",
            f"Stuck after five attempts: {counted(number, 'conversation')}.",
            "The dashboard says why, and tries them again one by one or all.",
        )
    return ok("extraction", "No conversation is stuck.")


def broker() -> Finding:
    try:
        where = _ping_redis() if settings.REDIS_URL else _write_to_folder()
    except Exception as error:  # a broker fails in as many ways as there are brokers
        mend = "Start Redis, and see REDIS_URL." if settings.REDIS_URL else "Make it writable."
        return trouble("broker", f"It can't be reached ({type(error).__name__}: {error}).", mend)
    return ok("broker", f"{where} takes messages.")


def _ping_redis() -> str:
    import redis

    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE) as client:
        client.ping()
    return "Redis"


def _write_to_folder() -> str:
    settings.BROKER_FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=settings.BROKER_FOLDER) as file:
        file.write(b"x")
    return str(settings.BROKER_FOLDER)


def language_models(*, ask: bool) -> Iterator[Finding]:
    general, private = llm.configured(llm.GENERAL), llm.configured(llm.PRIVATE)
    if general is None:
        yield ok(
            "language model", "None is set (LLM_MODEL): the built-in rules read conversations."
        )
    vision = llm.configured(llm.VISION)
    for route in filter(None, (general, private, vision)):
        yield _asked(_CHECKS[route.name], route) if ask else _listed(_CHECKS[route.name], route)


def _asked(check: str, route: llm.Route) -> Finding:
    sees = route.name == llm.VISION
    question = sample.QUESTION if sees else "Are you there?"
    picture = sample.picture() if sees else None
    try:
        done = llm.complete(route, "Answer in one word.", question, Ping, picture=picture)
    except llm.LlmError as error:
        return trouble(check, str(error), _see(route))
    if sees and sample.WORD.casefold() not in done.reply.answer.casefold():
        blind = f"{route.model} answers, but not what stands in the picture that it was shown."
        return trouble(check, blind, "Name a model that sees in LLM_VISION_MODEL.")
    tokens = done.usage.input_tokens + done.usage.output_tokens
    return ok(check, f"{route.model} answers as it should ({tokens} tokens).")


def _listed(check: str, route: llm.Route) -> Finding:
    """The list of models costs nothing, and needs address and key to be right."""
    try:
        with _opener().open(_request(route), timeout=PATIENCE):
            return ok(check, f"{route.model}: the endpoint takes the key (--llm asks the model).")
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            return trouble(check, f"The endpoint rejects the key ({error.code}).", _see(route))
        return note(
            check,
            f"{route.model}: the endpoint answers, but lists no models ({error.code}).",
            "Ask the model itself: manage.py doctor --llm.",
        )
    except (OSError, ValueError) as error:
        return trouble(check, f"The endpoint can't be reached ({error}).", _see(route))


def _request(route: llm.Route) -> Any:
    if route.provider == llm.ANTHROPIC:
        base = route.base_url or "https://api.anthropic.com"
        headers = {"x-api-key": route.api_key, "anthropic-version": "2023-06-01"}
        return urllib.request.Request(f"{base.rstrip('/')}/v1/models", headers=headers)  # noqa: S310
    base = route.base_url or f"https://{llm.OPENAI_HOST}/v1"
    headers = {"Authorization": f"Bearer {route.api_key or 'none'}"}
    return urllib.request.Request(f"{base.rstrip('/')}/models", headers=headers)  # noqa: S310


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the named host or nowhere."""

    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirect)


def _see(route: llm.Route) -> str:
    prefix = _PREFIXES[route.name]
    return f"See {prefix}_BASE_URL, {prefix}_MODEL and {prefix}_API_KEY."
