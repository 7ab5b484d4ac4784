"""The OpenAPI document is true: requests made from it meet no server error and no surprise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.main import create_app
from app.settings import Settings
from tests.processes import Server

pytestmark = pytest.mark.rotating

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
DOCUMENT = schemathesis.openapi.from_dict(create_app(Settings(sandbox="none")).openapi())
OPERATIONS = {
    found.ok().label: found.ok() for found in DOCUMENT.get_all_operations() if isinstance(found, Ok)
}
LONGEST_WAIT_S = 0.5


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # What is tested is the contract around a diagnosis, so scripts are read and not run.
    server = Server(tmp_path_factory.mktemp("openapi"), sandbox="none", queue_limit=1000)
    yield server
    server.end()


def test_document_lists_the_contract(server: Server) -> None:
    paths = server.http.get("/openapi.json").json()["paths"]
    assert {
        "/v1/diagnoses",
        "/v1/diagnoses/{diagnosis_id}",
        "/v1/diagnoses/{diagnosis_id}/events",
        "/v1/diagnoses/{diagnosis_id}/patches/{n}.diff",
        "/v1/diagnoses/{diagnosis_id}/graph.svg",
        "/v1/patterns",
        "/v1/patterns/{pattern}",
        "/healthz",
        "/readyz",
        "/metrics",
        "/gradmend_trace.py",
    } <= set(paths)


@pytest.mark.parametrize("label", sorted(OPERATIONS.keys() - {"GET /readyz"}))
def test_no_request_surprises(server: Server, label: str) -> None:
    @given(case=OPERATIONS[label].as_strategy())
    @settings(
        max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    def surprises(case: Any) -> None:
        wait = (case.query or {}).get("wait")
        if isinstance(wait, int | float):
            case.query["wait"] = min(wait, LONGEST_WAIT_S)
        case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=60)

    surprises()


def test_readiness_is_the_only_server_error(server: Server) -> None:
    """Without a sandbox the one right answer is a 503 that says why."""
    response = OPERATIONS["GET /readyz"].Case().call(base_url=server.url)
    assert response.status_code == 503
    assert response.headers["content-type"] == ["application/problem+json"]
    OPERATIONS["GET /readyz"].validate_response(response)
