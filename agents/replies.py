"""Idempotency keys: a call that is sent again is answered as before, and not done again.

A client names a call with the header Idempotency-Key. While it runs, a lock of the database session
stands for it, which is gone with the process that held it: a call that died is done anew. Only what
succeeded is remembered; a refused call changed nothing and may be corrected under the same name.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from tempfile import TemporaryFile
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac

from agents.models import ApiKey, StoredReply

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
LONGEST_NAME = 255
KEPT_FOR = timedelta(hours=24)
# Characters of an answer; the answers of calls that change something are far smaller.
LARGEST = 1_000_000
PIECE = 64 * 1024
HEADERS = ("Content-Type", "ETag", "Location")
LOCK = "hashtextextended('reply ' || %s, 0)"


class BadName(ValueError):
    def __init__(self) -> None:
        super().__init__(f"{HEADER}: 1 to {LONGEST_NAME} visible ASCII characters.")


class OtherCall(Exception):
    def __init__(self) -> None:
        super().__init__(f"This {HEADER} was sent with another request. Use a new one.")


class StillRunning(Exception):
    def __init__(self) -> None:
        super().__init__(f"The first request with this {HEADER} is still running. Ask again soon.")


class ReplyGone(Exception):
    def __init__(self) -> None:
        super().__init__("This was done already. Its answer is not kept, so look at what is there.")


class Replay(Exception):
    """Not an error: the answer is there already."""

    def __init__(self, reply: StoredReply) -> None:
        super().__init__("Answered before.")
        self.reply = reply


def claim(request: HttpRequest, key: ApiKey) -> None:
    """Before the call is done. `Replies` ends what this begins.

    Raises BadName, OtherCall, StillRunning, ReplyGone and Replay.
    """
    name = request.headers.get(HEADER)
    if request.method != "POST" or name is None:
        return
    if not 0 < len(name) <= LONGEST_NAME or not (name.isascii() and name.isprintable()):
        raise BadName
    seen = request.headers.get("If-Match", "")
    call = _digest(str(key.pk), request.get_full_path(), seen, _body(request))
    reply = _row(key, _digest(str(key.pk), name), call)
    if reply is not None and reply.call_digest != call:
        raise OtherCall
    if reply is None or not _lock(held := reply.pk):
        raise StillRunning
    try:
        reply = _found(key, reply.name_digest)
        if reply is None:  # the first call failed just now
            raise StillRunning
        if reply.status is not None:
            raise Replay(reply) if reply.kept else ReplyGone
    except Exception:
        _unlock(held)
        raise
    request.claimed_reply = reply  # type: ignore[attr-defined]


def replayed(reply: StoredReply) -> HttpResponse:
    response = HttpResponse(reply.body, status=reply.status)
    for name, value in reply.headers.items():
        response[name] = value
    response[REPLAYED] = "true"
    return response


def drop_old() -> int:
    """Also those whose call never ended."""
    old = StoredReply.objects.filter(created_at__lt=timezone.now() - KEPT_FOR)
    return old._raw_delete(old.db)


class Replies:
    """Middleware, because an answer is complete only when the API's error handlers are through."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase | None = None
        try:
            response = self.get_response(request)
        finally:
            reply = getattr(request, "claimed_reply", None)
            if reply is not None:
                _end(reply, response)
            if (file := getattr(request, "set_aside", None)) is not None:
                file.close()
        return response


def _end(reply: StoredReply, response: HttpResponseBase | None) -> None:
    try:
        row = StoredReply.objects.filter(pk=reply.pk, owner=reply.owner_id)
        if response is None or response.status_code >= 300:
            row.delete()
            return
        values = _kept(response)
        row.filter(purged=False).update(**values)
        # What was purged while the call ran may be in its answer.
        row.filter(purged=True).update(status=response.status_code)
    finally:
        _unlock(reply.pk)


def _kept(response: HttpResponseBase) -> dict[str, Any]:
    """An answer that no cache may store holds a secret."""
    done: dict[str, Any] = {"status": response.status_code}
    secret = "no-store" in response.headers.get("Cache-Control", "")
    if secret or not isinstance(response, HttpResponse) or len(response.content) > LARGEST:
        return done
    headers = {name: response[name] for name in HEADERS if name in response.headers}
    return done | {"kept": True, "body": response.content.decode(), "headers": headers}


def _row(key: ApiKey, name: str, call: str) -> StoredReply | None:
    """The claim on this name, ours or an earlier one. Waits for a purge of the owner's: what began
    before its end is marked by it, and what begins after reads nothing of what it erased."""
    owner = str(key.owner_id)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock_shared(hashtextextended('replies of ' || %s, 0))", [owner]
        )
        row = StoredReply(owner=key.owner, client=key, name_digest=name, call_digest=call)
        StoredReply.objects.bulk_create([row], ignore_conflicts=True)
        return _found(key, name)


def _found(key: ApiKey, name: str) -> StoredReply | None:
    return StoredReply.objects.filter(owner=key.owner, client=key, name_digest=name).first()


def _body(request: HttpRequest) -> bytes:
    """Its hash. What is too large to hold in memory goes through a file, from which the call then
    reads it. How large that can become is seen to before (config/sizes.py)."""
    size = request.headers.get("Content-Length") or "0"
    if not size.isdigit() or int(size) <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        return hashlib.sha256(request.body).digest()
    file = TemporaryFile()  # noqa: SIM115  (closed when the call is over, see Replies)
    request.set_aside = file  # type: ignore[attr-defined]  # before a client can hang up
    found = hashlib.sha256()
    while piece := request.read(PIECE):
        found.update(piece)
        file.write(piece)
    file.seek(0)
    request._stream, request._read_started = file, False  # type: ignore[attr-defined]
    return found.digest()


def _digest(*parts: str | bytes) -> str:
    hmac = salted_hmac("agents.replies", b"", secret=settings.HASH_KEY, algorithm="sha256")
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hmac.update(len(data).to_bytes(8, "big") + data)
    return hmac.hexdigest()


def _lock(pk: UUID) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_lock({LOCK})", [str(pk)])
        (got,) = cursor.fetchone()
    return bool(got)


def _unlock(pk: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_unlock({LOCK})", [str(pk)])
