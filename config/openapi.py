"""The API's description: what ninja draws from the operations, and what they all share."""

from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.operation import Operation

from agents import replies
from agents.auth import KeyAuth
from config.examples import EXAMPLES
from config.problems import CODES, PROBLEM_TYPE

Schema = dict[str, Any]
View = Callable[..., HttpResponse]

PROBLEM: Schema = {
    "title": "Problem",
    "type": "object",
    "description": "RFC 9457. `code` is for programs; more may come. The request is not repeated.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "code": {"type": "string"},
        "detail": {"type": "string", "description": "For people."},
        "errors": {
            "type": "array",
            "description": "Which fields are wrong, and why.",
            "items": {
                "type": "object",
                "required": ["at", "message"],
                "properties": {"at": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "at": {"type": "string", "description": "Which part of the request is wrong."},
        "current": {"type": "object", "description": "What is there now, where yours was stale."},
    },
}
SECONDS: Schema = {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
# What any call may be told, and what only one that brings something may.
ALWAYS = (401, 403, 404, 413, 422, 429)
BRINGS = (400, 409, 410, 411, 415)
# Of several codes the one that most will meet.
SHOWN = {400: "malformed"}
NAMED: Schema = {
    "in": "header",
    "name": replies.HEADER,
    "required": False,
    "description": "A name of yours for this call. Sent again with it within a day, the call is "
    "answered as before and not done again.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": replies.LONGEST_NAME,
        "pattern": "^[ -~]+$",
    },
    "example": "8f14e45f-ceea-467a-9575-1d6f2b3c4d5e",
}


SEEN: Schema = {
    "in": "header",
    "name": "If-Match",
    "required": False,
    "description": "The ETag of what you saw. If it has changed since, a 409 shows what is there.",
    "schema": {"type": "string", "maxLength": 64, "pattern": "^[ -~]+$"},
}


def drawn_once(view: View) -> View:
    """Drawing takes a second of a processor, anybody may ask for it, and it never changes."""
    drawn: list[HttpResponse] = []

    def answer(request: HttpRequest, **options: Any) -> HttpResponse:
        if not drawn:
            drawn.append(view(request, **options))
        return HttpResponse(drawn[0].content, content_type=drawn[0].headers["Content-Type"])

    return answer


class DescribedAPI(NinjaAPI):
    def get_openapi_schema(self, **options: Any) -> Any:
        schema = super().get_openapi_schema(**options)
        parts = schema["components"]
        parts["schemas"]["Problem"] = PROBLEM
        parts["responses"] = {f"Problem{code}": _response(code) for code in (*ALWAYS, *BRINGS)}
        scopes = {one.operation_id: scope_of(one) for one in operations(self)}
        for method, operation in described(schema):
            _complete(operation, method, scopes[operation["operationId"]])
            if _is_versioned(operation, parts["schemas"]):
                operation["parameters"].append(SEEN)
        return schema


def operations(api: NinjaAPI) -> Iterator[Operation]:
    for bound in api._get_bound_routers():
        for view in bound.path_operations.values():
            yield from view.operations


def described(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Each method and operation of a description, once."""
    for methods in schema["paths"].values():
        yield from methods.items()


def scope_of(operation: Operation) -> str:
    scopes: Iterable[str] = (
        auth.scope for auth in operation.auth_callbacks if isinstance(auth, KeyAuth)
    )
    return next(iter(scopes), "")


def _response(status: int) -> Schema:
    codes = sorted({code for at, code in CODES if at == status})
    phrase = HTTPStatus(status).phrase
    shown = SHOWN.get(status, codes[0])
    example = {"type": "about:blank", "title": phrase, "status": status, "code": shown}
    told: Schema = {
        "description": f"{phrase}: {', '.join(f'`{code}`' for code in codes)}",
        "content": {
            PROBLEM_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": example | {"detail": "What is wrong, and what to do."},
            }
        },
    }
    if status in {409, 429}:
        told["headers"] = {"Retry-After": SECONDS}
    return told


def _is_versioned(operation: Schema, schemas: Schema) -> bool:
    contents = operation.get("requestBody", {}).get("content", {}).values()
    names = [content["schema"].get("$ref", "").rsplit("/", 1)[-1] for content in contents]
    return any("version" in schemas.get(name, {}).get("properties", {}) for name in names)


def _complete(operation: Schema, method: str, scope: str) -> None:
    about = operation.get("description", "")
    operation["description"] = f"{about}\n\nScope of the key: `{scope}`.".strip()
    errors = ALWAYS if method == "get" else (*ALWAYS, *BRINGS)
    for status in errors:
        told = {"$ref": f"#/components/responses/Problem{status}"}
        operation["responses"].setdefault(status, told)
    if method == "post":
        operation["parameters"].append(NAMED)
    example = EXAMPLES.get(operation["operationId"])
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if example is not None:
            content["example"] = example
