"""The OpenAPI document: every schema a component, every error a problem, so that generators of
clients take it whole."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.api.meanings import PARAMETERS, SCHEMAS, meaning
from app.change_schemas import VerificationRequest
from app.http.problems import MEDIA_TYPE, ProblemDetails
from app.schema_types import Status
from app.schemas import Cause, DiagnosisRequest, Patch

REF = "#/components/schemas/{model}"
VALIDATION = ("HTTPValidationError", "ValidationError")


class StatusEvent(BaseModel):
    """`event: status`: the diagnosis has reached another state."""

    status: Status


class ProgressEvent(BaseModel):
    """`event: progress`: what is being done; `done` of `total` steps of this stage."""

    stage: str
    done: int
    total: int
    message: str


class CauseEvent(Cause):
    """`event: cause`: a cause, as soon as it is known."""


class PatchEvent(Patch):
    """`event: patch`: a fix, as soon as its checks have ended."""


EXTRA = (
    ProblemDetails,
    DiagnosisRequest,
    VerificationRequest,
    StatusEvent,
    ProgressEvent,
    CauseEvent,
    PatchEvent,
)


def install(app: FastAPI) -> None:
    """Make the application serve this document."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _explain(name: str, schema: dict[str, Any]) -> None:
    """Give a schema and its fields the meanings that their classes do not state."""
    if name in SCHEMAS and not schema.get("description"):
        schema["description"] = SCHEMAS[name]
    for field, its in schema.get("properties", {}).items():
        if text := its.get("description") or meaning(name, field):
            its["description"] = text


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=[{"url": "/"}],
    )
    schemas = document["components"]["schemas"]
    _, extra = models_json_schema([(m, "validation") for m in EXTRA], ref_template=REF)
    for name, schema in extra["$defs"].items():
        schemas.setdefault(name, schema)
    for name in VALIDATION:
        schemas.pop(name, None)
    for name, schema in schemas.items():
        _explain(name, schema)
    problem = {MEDIA_TYPE: {"schema": {"$ref": REF.format(model="ProblemDetails")}}}
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                parameter.setdefault("description", PARAMETERS.get(parameter["name"], ""))
            if "422" in operation["responses"]:
                operation["responses"]["422"] = {
                    "description": "Unprocessable Content",
                    "content": problem,
                }
    return document
