"""The page of reference, drawn from the API's description. It is about nobody, so it is open."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from json import dumps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from config.openapi import Schema, described


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    required: bool
    about: str


@dataclass(frozen=True)
class Entry:
    """An operation as the page shows it."""

    id: str
    tag: str
    method: str
    path: str
    summary: str
    about: str
    parameters: list[Field]
    body: list[Field]
    example: str
    answers: list[tuple[str, str, list[Field]]]


@require_GET
def reference(request: HttpRequest) -> HttpResponse:
    context = {"groups": _groups(), "schemas": _schemas()}
    return render(request, "config/reference.html", context)


@cache
def _description() -> Schema:
    from config.api import api

    return dict(api.get_openapi_schema())


@cache
def _groups() -> list[tuple[str, list[Entry]]]:
    entries = sorted(_entries(_description()), key=lambda one: one.tag)
    return [(tag, list(found)) for tag, found in groupby(entries, key=lambda one: one.tag)]


@cache
def _schemas() -> list[tuple[str, str, list[Field]]]:
    found = sorted(_description()["components"]["schemas"].items())
    return [(name, one.get("description", ""), _fields(one)) for name, one in found]


def _entries(schema: Schema) -> Iterator[Entry]:
    for path, methods in schema["paths"].items():
        for method, one in described({"paths": {path: methods}}):
            content: Schema = next(iter(one.get("requestBody", {}).get("content", {}).values()), {})
            example = content.get("example")
            yield Entry(
                id=one["operationId"],
                tag=one["tags"][0],
                method=method.upper(),
                path=path,
                summary=one["summary"],
                about=one["description"],
                parameters=[_parameter(each) for each in one.get("parameters", [])],
                body=_fields(_resolved(content.get("schema", {}), schema)),
                example=dumps(example, indent=2) if example else "",
                answers=[_answer(code, each, schema) for code, each in one["responses"].items()],
            )


def _answer(status: Any, response: Schema, schema: Schema) -> tuple[str, str, list[Field]]:
    told = response
    if "$ref" in response:
        told = schema["components"]["responses"][response["$ref"].rsplit("/", 1)[-1]]
        return str(status), told["description"], []
    content: Schema = next(iter(told.get("content", {}).values()), {})
    return str(status), told["description"], _fields(_resolved(content.get("schema", {}), schema))


def _parameter(parameter: Schema) -> Field:
    where = "" if parameter["in"] == "query" else f"{parameter['in']}: "
    return Field(
        name=parameter["name"],
        type=where + type_of(parameter["schema"]),
        required=parameter["required"],
        about=parameter.get("description", ""),
    )


def _fields(schema: Schema) -> list[Field]:
    required = schema.get("required", ())
    return [
        Field(name, type_of(one), name in required, one.get("description", ""))
        for name, one in schema.get("properties", {}).items()
    ]


def _resolved(schema: Schema, whole: Schema) -> Schema:
    """The schema itself, in place of a pointer at it; of a choice, the first that is one."""
    for one in (schema, *schema.get("anyOf", ())):
        if "$ref" in one:
            return dict(whole["components"]["schemas"][one["$ref"].rsplit("/", 1)[-1]])
    return schema


def type_of(schema: Schema) -> str:
    """In words: `integer 1 to 200`, `list of FactOut`, `"skip" or "pending"`."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return " or ".join(type_of(one) for one in schema[word])
    if "enum" in schema or "const" in schema:
        return " or ".join(dumps(one) for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    return f"{schema.get('format') or schema.get('type') or 'anything'}{_bounds(schema)}"


def _bounds(schema: Schema) -> str:
    for low, high, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters")):
        if high in schema:
            return f", {schema.get(low, 0)} to {schema[high]}{unit}"
    return ""
