"""`docker compose up`, for real: a script posted to the web container comes back with a patch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sandbox.client import LauncherClient
from sandbox.protocol import Job, Readiness, RunResult
from tests import composing
from tests.case_files import load_case
from tests.integration.test_resources import each_lacking
from tests.processes import eventually

pytestmark = pytest.mark.docker

FAILING = load_case("recurrent_state/char_lm").stripped


@pytest.fixture(scope="module")
def service(docker_host: str) -> Iterator[httpx.Client]:
    """The composed service, ready."""
    with composing.composed(docker_host) as base, httpx.Client(base_url=base, timeout=90) as client:
        eventually(lambda: _ready(client), seconds=180)
        yield client


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").is_success
    except httpx.TransportError:
        return False


def _diagnosed(service: httpx.Client, **request: object) -> dict[str, Any]:
    posted = service.post("/v1/diagnoses?wait=60", json=request)
    assert posted.is_success, posted.text
    link = f"/v1/diagnoses/{posted.json()['id']}"
    eventually(lambda: service.get(link).json()["status"] == "done", seconds=400)
    found: dict[str, Any] = service.get(link).json()
    return found


@each_lacking
def test_real_packages_without_their_resource(
    service: httpx.Client, script: str, pattern: str, missing: str
) -> None:
    found = _diagnosed(service, script=script, time_limit_s=60)
    assert found["causes"][0]["pattern"] == pattern, found["summary"]
    assert found["patches"][0]["verification"]["status"] == "passed", found["summary"]
    assert missing in {one["name"] for one in found["world"]}
    assert not found["run"]["stand_ins"]


def test_a_verified_patch(service: httpx.Client) -> None:
    found = _diagnosed(service, script=FAILING)
    assert found["verdict"] == "confirmed", found["summary"]
    assert found["causes"][0]["pattern"] == "recurrent-state"
    verification = found["patches"][0]["verification"]
    checks = {check["name"]: check["status"] for check in verification["checks"]}
    assert checks["reproduced"] == checks["runs"] == checks["learns"] == "passed", checks
    assert found["run"]["sandbox"]["backend"] == "container"


def test_what_is_ready_says_where_it_runs(service: httpx.Client) -> None:
    ready = service.get("/readyz").json()
    assert (ready["jobs"], ready["database"], ready["backend"]) == (
        "queue",
        "postgresql",
        "container",
    )


def test_the_jail_holds_in_a_container(docker_host: str) -> None:
    with composing.jailing(docker_host) as socket:
        eventually(socket.exists, seconds=60)
        readiness, result = asyncio.run(_run(LauncherClient(socket)))
    assert (readiness.ready, readiness.backend) == (True, "jail"), readiness.reason
    assert result.status == "raised", result.reason
    assert result.raised
    assert result.raised.type == "RuntimeError"
    assert {"landlock", "seccomp", "pid-namespace", "no-network"} <= set(result.walls)


async def _run(box: LauncherClient) -> tuple[Readiness, RunResult]:
    return await box.readiness(), await box.run(Job(files={"train.py": FAILING}))
