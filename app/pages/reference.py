"""The reference at /docs: the OpenAPI document as a page, made on the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from app.api.examples import CURL, PYTHON, example
from app.pages.view import page

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a property of a schema; `type` is spelled for people."""

    name: str
    type: str
    required: bool
    description: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one address; `answers` maps a status to what it means."""

    method: str
    path: str
    id: str
    description: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Schema:
    name: str
    description: str
    fields: tuple[Field, ...]


@router.get("/docs")
def reference(request: Request) -> Response:
    """Every operation and every schema; /openapi.json has the same for machines."""
    document, base = request.app.openapi(), str(request.base_url).rstrip("/")
    return page(
        "reference.html",
        curl=example(CURL, base),
        python=example(PYTHON, base),
        operations=list(operations(document)),
        schemas=list(schemas(document)),
    )


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """The document's operations, in its order."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield Operation(
                method=method.upper(),
                path=path,
                id=operation["operationId"],
                description=operation.get("description", ""),
                parameters=tuple(
                    Field(
                        parameter["name"],
                        type_of(parameter["schema"]),
                        parameter.get("required", False),
                        parameter.get("description", ""),
                        _default(parameter["schema"]),
                    )
                    for parameter in operation.get("parameters", ())
                ),
                body=_body(operation, document),
                answers=tuple(
                    (status, _content(answer)) for status, answer in operation["responses"].items()
                ),
            )


def schemas(document: dict[str, Any]) -> Iterator[Schema]:
    """The document's schemas that are objects, in its order."""
    for name, schema in document["components"]["schemas"].items():
        if "properties" not in schema:
            continue
        yield Schema(name, schema.get("description", ""), _fields(schema))


def _fields(schema: dict[str, Any]) -> tuple[Field, ...]:
    required = schema.get("required", ())
    return tuple(
        Field(name, type_of(its), name in required, its.get("description", ""), _default(its))
        for name, its in schema["properties"].items()
    )


def _body(operation: dict[str, Any], document: dict[str, Any]) -> tuple[Field, ...]:
    """The fields of a JSON body."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if name := schema.get("$ref", "").rpartition("/")[2]:
        schema = document["components"]["schemas"][name]
    return _fields(schema) if "properties" in schema else ()


def _default(schema: dict[str, Any]) -> str:
    """A default as JSON; nothing where there is none, or an empty one."""
    value = schema.get("default")
    return "" if value in (None, "", []) else json.dumps(value)


def type_of(schema: dict[str, Any]) -> str:
    """A schema's type in a few words: `list of Cause`, `"auto" or "never"`."""
    match schema:
        case {"$ref": str(reference)}:
            return reference.rpartition("/")[2]
        case {"anyOf": list(options)}:
            return " or ".join(type_of(option) for option in options)
        case {"enum": list(values)}:
            return " or ".join(f'"{value}"' for value in values)
        case {"type": "array", "items": dict(items)}:
            return f"list of {type_of(items)}"
        case {"type": str(name), "format": str(form)}:
            return f"{name} ({form})"
        case {"type": str(name)}:
            return name
    return "any"


def _content(answer: dict[str, Any]) -> str:
    """What an answer holds: its media types and schemas."""
    described = []
    for media_type, content in answer.get("content", {}).items():
        schema = content.get("schema")
        described.append(f"{media_type}: {type_of(schema)}" if schema else media_type)
    return "; ".join(described) or answer.get("description", "")
