"""The HTTP contract: waiting, retrying, streaming, deleting, and the manners around it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.diagnose import Progress
from app.main import create_app
from app.schemas import (
    Diagnosis,
    DiagnosisRequest,
    Findings,
)
from app.settings import Settings
from app.store.wakeups import Wakeups
from tests.app_answers import CAUSE, DIFF, SCRIPT, URL, events, fixing, made, never
from tests.serving import serving


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(tmp_path, fixing) as client:
        yield client


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(tmp_path, never) as client:
        yield client


async def test_finished_diagnosis_comes_with_200(http: httpx.AsyncClient) -> None:
    diagnosis = await made(http)
    assert (diagnosis.status, diagnosis.verdict) == ("done", "confirmed")
    assert diagnosis.url == f"http://test/d/{diagnosis.id}"
    assert diagnosis.expires_at > diagnosis.created_at
    assert diagnosis.timings_ms.total >= diagnosis.timings_ms.queue >= 0
    again = await http.get(f"{URL}/{diagnosis.id}")
    assert Diagnosis.model_validate(again.json()) == diagnosis


async def test_unfinished_diagnosis_comes_with_202_and_what_is_known(
    slow: httpx.AsyncClient,
) -> None:
    response = await slow.post(URL, json=SCRIPT, params={"wait": 0.5})
    assert response.status_code == 202
    assert int(response.headers["retry-after"]) >= 1
    body = (await slow.get(response.headers["location"])).json()
    assert (body["status"], body["verdict"]) == ("running", None)
    assert [cause["pattern"] for cause in body["causes"]] == ["recurrent-state"]


async def test_retried_post_returns_the_first_diagnosis(http: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "a key"}
    first = (await http.post(URL, json=SCRIPT, headers=key)).json()
    again = await http.post(URL, json=SCRIPT, headers=key)
    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    as_form = await http.post(URL, data=SCRIPT, headers=key)
    assert as_form.json()["id"] == first["id"]
    other = await http.post(URL, json={"script": "y"}, headers=key)
    assert other.status_code == 422
    assert "Idempotency-Key" in other.json()["detail"]


@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_unusable_key_is_refused(http: httpx.AsyncClient, key: str) -> None:
    response = await http.post(URL, json=SCRIPT, headers={"Idempotency-Key": key})
    assert response.status_code == 422


async def test_events_tell_the_whole_story_and_resume(http: httpx.AsyncClient) -> None:
    diagnosis = await made(http)
    address = f"{URL}/{diagnosis.id}/events"
    reported = events(await http.get(address))
    assert [kind for _, kind, _ in reported] == ["status", "status", "cause", "patch", "done"]
    assert reported[2][2] == CAUSE.model_dump(mode="json")
    assert reported[4][2]["verdict"] == "confirmed"
    resumed = await http.get(address, headers={"Last-Event-ID": str(reported[2][0])})
    assert events(resumed) == reported[3:]


@pytest.mark.parametrize("last", [b"-1", b"x", b"9" * 5000, b"\xb2"])
async def test_odd_last_event_ids_do_no_harm(http: httpx.AsyncClient, last: bytes) -> None:
    diagnosis = await made(http)
    headers = {b"Last-Event-ID": last}
    assert (await http.get(f"{URL}/{diagnosis.id}/events", headers=headers)).status_code == 200


async def test_patch_and_picture(http: httpx.AsyncClient) -> None:
    diagnosis = await made(http)
    patch = await http.get(f"{URL}/{diagnosis.id}/patches/1.diff")
    assert (patch.text, patch.headers["content-type"]) == (DIFF, "text/x-diff; charset=utf-8")
    assert (await http.get(f"{URL}/{diagnosis.id}/patches/2.diff")).status_code == 404
    picture = await http.get(f"{URL}/{diagnosis.id}/graph.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text.startswith("<svg")


async def test_deleting_forgets_everything(http: httpx.AsyncClient) -> None:
    diagnosis = await made(http)
    address = f"{URL}/{diagnosis.id}"
    assert (await http.delete(address)).status_code == 204
    for path in ("", "/events", "/patches/1.diff", "/graph.svg"):
        assert (await http.get(address + path)).status_code == 404
    assert (await http.delete(address)).status_code == 404


async def test_deleting_ends_the_streams_of_a_running_diagnosis(
    slow: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagnosis = await made(slow, wait=0)
    begun, watching = asyncio.Event(), Wakeups.watching

    def reported_of(self: Wakeups, diagnosis_id: str) -> contextlib.AbstractContextManager[Any]:
        begun.set()
        return watching(self, diagnosis_id)

    monkeypatch.setattr(Wakeups, "watching", reported_of)
    stream = asyncio.create_task(slow.get(f"{URL}/{diagnosis.id}/events"))
    await begun.wait()
    await slow.delete(f"{URL}/{diagnosis.id}")
    async with asyncio.timeout(10):
        reported = events(await stream)
    assert reported[-1][1:] == (
        "done",
        {"id": diagnosis.id, "status": "deleted", "verdict": None, "summary": ""},
    )


@pytest.mark.parametrize("name", ["x", "%00", "a" * 500, "ü", ".."])
async def test_unknown_id_is_a_problem(http: httpx.AsyncClient, name: str) -> None:
    response = await http.get(f"{URL}/{name}")
    assert response.status_code in (404, 405)
    assert response.headers["content-type"] == "application/problem+json"


async def test_every_pattern_has_both_examples(http: httpx.AsyncClient) -> None:
    patterns = (await http.get("/v1/patterns")).json()["patterns"]
    assert "recurrent-state" in {entry["pattern"] for entry in patterns}
    for entry in patterns:
        one = (await http.get(f"/v1/patterns/{entry['pattern']}")).json()
        assert one == entry
        assert one["broken"] != one["mended"]
        compile(one["broken"], "broken", "exec")
        compile(one["mended"], "mended", "exec")
    assert (await http.get("/v1/patterns/none-such")).status_code == 404


async def test_readiness_says_why_nothing_runs(http: httpx.AsyncClient) -> None:
    response = await http.get("/readyz")
    assert response.status_code == 503
    body = response.json()
    assert (body["ready"], body["backend"]) == (False, "none")
    assert body["reason"] in body["detail"]


async def test_metrics_count_verdicts_and_hold_no_script(http: httpx.AsyncClient) -> None:
    diagnosis = await made(http)
    text = (await http.get("/metrics")).text
    assert 'gradmend_diagnoses_total{verdict="confirmed"} 1.0' in text
    assert 'gradmend_causes_total{pattern="recurrent-state"} 1.0' in text
    assert f'route="{URL}"' in text
    assert "unmistakable" not in text
    assert diagnosis.id not in text


async def test_logs_hold_no_script_even_when_the_service_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.http.logs import configure

    async def quoting(request: DiagnosisRequest, progress: Progress) -> Findings:
        raise ValueError(f"cannot read {request.script}")

    configure("info", "json")
    async with serving(tmp_path, quoting) as http:
        assert (await made(http)).status == "failed"
    logged = capsys.readouterr().err
    assert '"error": "ValueError"' in logged
    assert "unmistakable" not in logged


async def test_security_headers_and_request_id(http: httpx.AsyncClient) -> None:
    for path in ("/", "/healthz", "/nowhere", "/docs"):
        headers = (await http.get(path)).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["x-request-id"]
    diagnosis = await made(http)
    shown = await http.get(f"{URL}/{diagnosis.id}")
    assert shown.headers["cache-control"] == "private, no-cache"
    assert (await http.get(f"/d/{diagnosis.id}")).headers["cache-control"] == "no-store"


async def test_a_finished_result_is_not_sent_twice(http: httpx.AsyncClient) -> None:
    diagnosis = await made(http)
    address = f"{URL}/{diagnosis.id}"
    first = await http.get(address)
    again = await http.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = await http.get(address, headers={"If-None-Match": '"another"'})
    assert other.json() == first.json()


async def test_a_result_is_reported_whole_in_brief_or_in_markdown(http: httpx.AsyncClient) -> None:
    diagnosis = await made(http)
    address = f"{URL}/{diagnosis.id}"
    brief = await http.get(address, params={"view": "brief"})
    assert brief.json()["cause"]["pattern"] == diagnosis.causes[0].pattern
    assert set(brief.json()) < {*(await http.get(address)).json(), "cause", "patch"}
    reported = await http.get(address, headers={"Accept": "text/markdown"})
    assert reported.headers["content-type"] == "text/markdown; charset=utf-8"
    assert len(reported.text.strip().split("\n")) <= 12
    assert diagnosis.id in reported.text
    assert (await http.get(address, params={"view": "half"})).status_code == 422


def test_every_schema_of_the_document_is_a_component() -> None:
    document = create_app(Settings(sandbox="none")).openapi()
    schemas = document["components"]["schemas"]
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))
    assert references <= {f"#/components/schemas/{name}" for name in schemas}
    assert {"DiagnosisRequest", "CauseEvent", "PatchEvent", "ProgressEvent"} <= set(schemas)
    assert "HTTPValidationError" not in schemas


async def test_cors_is_off_unless_set(tmp_path: Path) -> None:
    origin = {"Origin": "https://elsewhere.example"}
    async with serving(tmp_path) as http:
        assert (
            "access-control-allow-origin"
            not in (await http.get("/healthz", headers=origin)).headers
        )
    async with serving(tmp_path, cors_origins="https://elsewhere.example") as http:
        allowed = (await http.get("/healthz", headers=origin)).headers
        assert allowed["access-control-allow-origin"] == "https://elsewhere.example"


async def test_reference_names_every_operation(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    page = (await http.get("/docs")).text
    for path in document["paths"]:
        assert path in page
    assert "://cdn" not in page


async def test_examples_in_the_document_work(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    content = document["paths"][URL]["post"]["requestBody"]["content"]
    example = content["application/json"]["example"]
    assert (await http.post(URL, json=example)).status_code == 200


async def test_a_browser_gets_a_page_for_an_error_and_a_program_a_problem(
    http: httpx.AsyncClient,
) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    shown = await http.get("/nowhere", headers=browser)
    assert (shown.status_code, shown.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "This page does not exist" in shown.text
    for path, headers in (("/nowhere", {}), ("/v1/nowhere", browser)):
        reported = await http.get(path, headers=headers)
        assert reported.headers["content-type"] == "application/problem+json"


async def test_a_result_is_edited_and_run_again_with_everything_that_was_sent(
    http: httpx.AsyncClient,
) -> None:
    sent = {
        **SCRIPT,
        "traceback": "ValueError: told",
        "args": ["--lr", "a b"],
        "files": [{"path": "net.py", "content": "y = 2\n"}],
    }
    first = (await http.post(URL, json=sent)).json()
    shown = (await http.get("/", params={"from": first["id"]})).text
    for kept in ("unmistakable", "ValueError: told", "--lr &#39;a b&#39;", "net.py", first["id"]):
        assert kept in shown
    again = await http.post("/", data={"from": first["id"], "args": "--lr 2"})
    assert again.status_code == 303
    diagnosis_id = again.headers["location"].removeprefix("/d/")
    stored = (await http.get("/", params={"from": diagnosis_id})).text
    for kept in ("unmistakable", "ValueError: told", "--lr 2", "net.py"):
        assert kept in stored
    assert "unmistakable" not in (await http.get("/", params={"from": "nobody"})).text
