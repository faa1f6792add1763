"""What an operation doesn't know in an address it refuses, as it does in a body: a misspelt filter
would otherwise widen what is asked for."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from ninja.errors import ValidationError
from ninja.operation import Operation

Run = Callable[..., Any]


def exactly(run: Run) -> Run:
    """For `NinjaAPI.add_decorator` in the mode "view". The check itself stands behind the one of
    the key, so that nobody is told anything before."""
    operation: Operation = run.__self__  # type: ignore[attr-defined]
    known, view = fields_of(operation), operation.view_func

    @wraps(view)
    def checked(request: HttpRequest, *arguments: Any, **values: Any) -> Any:
        if unknown := sorted(set(request.GET) - known):
            raise ValidationError(
                [
                    {"loc": ("query", name[:80]), "msg": "There is no such field."}
                    for name in unknown
                ]
            )
        return view(request, *arguments, **values)

    operation.view_func = checked
    return run


def fields_of(operation: Operation) -> set[str]:
    """The names that its address may carry behind the question mark."""
    return {
        name
        for model in operation.models
        if model.__ninja_param_source__ == "query"
        for name in getattr(model, "__ninja_flatten_map__", None) or model.model_fields
    }
