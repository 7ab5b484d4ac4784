"""Requests that once stopped the service, or did what their sender should not: each is answered."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.diagnose import Progress
from app.schemas import DiagnosisRequest, Findings
from tests.serving import serving

URL = "/v1/diagnoses"
SCRIPT = {"script": "x = 'unmistakable'\n"}


async def done(request: DiagnosisRequest, progress: Progress) -> Findings:
    return Findings(verdict="healthy", summary="s")


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(tmp_path, done) as client:
        yield client


@pytest.mark.parametrize(
    "body",
    [
        {**SCRIPT, **{f"k{n}": 1 for n in range(50_000)}},
        {**SCRIPT, "files": [{"path": "a", "content": "", **{f"k{n}": 1 for n in range(50_000)}}]},
    ],
    ids=["top", "file"],
)
async def test_of_many_unknown_fields_one_is_named(
    http: httpx.AsyncClient, body: dict[str, object]
) -> None:
    answer = await http.post(URL, json=body)
    assert answer.status_code == 422
    assert "is not known" in answer.json()["detail"]
    assert len(answer.content) < 2000


@pytest.mark.parametrize("name", ["ä" * 200, "/".join("d" * 400)])
async def test_paths_too_long_for_a_file_system_are_refused(
    http: httpx.AsyncClient, name: str
) -> None:
    answer = await http.post(URL, json={**SCRIPT, "files": [{"path": name, "content": ""}]})
    assert answer.status_code == 422


async def test_an_upload_in_an_undefined_coding_is_refused(http: httpx.AsyncClient) -> None:
    data = b"# coding: undefined\nx = '\xff'\n"
    answer = await http.post(URL, files={"script": ("train.py", data)})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://evil.test"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
async def test_other_sites_change_nothing(http: httpx.AsyncClient, headers: dict[str, str]) -> None:
    made = (await http.post(URL, json=SCRIPT)).json()["id"]
    for call in (
        http.post(URL, json=SCRIPT, headers=headers),
        http.post("/", data=SCRIPT, headers=headers),
        http.post(f"/d/{made}/delete", headers=headers),
        http.delete(f"{URL}/{made}", headers=headers),
    ):
        assert (await call).status_code == 403
    assert (await http.get(f"{URL}/{made}", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://test"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://test"},
        {},
    ],
)
async def test_the_own_page_and_programs_are_let_in(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await http.post("/", data=SCRIPT, headers=headers)
    assert answer.status_code == 303


async def test_allowed_origins_are_let_in(tmp_path: Path) -> None:
    async with serving(tmp_path, done, cors_origins="https://notes.example") as http:
        headers = {"Origin": "https://notes.example", "Sec-Fetch-Site": "cross-site"}
        assert (await http.post(URL, json=SCRIPT, headers=headers)).status_code == 200


def elsewhere(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The same service, asked from another address."""
    transport = client._transport
    assert isinstance(transport, httpx.ASGITransport)
    other = httpx.ASGITransport(transport.app, client=("192.0.2.7", 1))
    return httpx.AsyncClient(transport=other, base_url="http://test")


async def test_only_the_sender_deletes(http: httpx.AsyncClient) -> None:
    made = await http.post(URL, json=SCRIPT)
    page = f"{URL}/{made.json()['id']}"
    async with elsewhere(http) as other:
        assert (await other.delete(page)).status_code == 403
        assert (await other.delete(page, headers={"X-Delete-Token": "no"})).status_code == 403
        assert "danger" not in (await other.get(f"/d/{made.json()['id']}")).text
        token = {"X-Delete-Token": made.headers["x-delete-token"]}
        assert (await other.delete(page, headers=token)).status_code == 204


async def test_only_the_sender_keeps(http: httpx.AsyncClient) -> None:
    made = await http.post(URL, json=SCRIPT)
    name, expires = made.json()["id"], made.json()["expires_at"]
    async with elsewhere(http) as other:
        for address in (f"{URL}/{name}/keep", f"/d/{name}/keep"):
            assert (await other.post(address)).status_code == 403
            assert (await other.post(address, headers={"X-Delete-Token": "no"})).status_code == 403
        assert (await other.post(f"/d/{name}/delete")).status_code == 403
        assert "/keep" not in (await other.get(f"/d/{name}")).text
        assert (await other.get(f"{URL}/{name}")).json()["expires_at"] == expires
        token = {"X-Delete-Token": made.headers["x-delete-token"]}
        kept = await other.post(f"{URL}/{name}/keep", headers=token)
    assert kept.status_code == 200
    assert kept.json()["expires_at"] > "9"
    assert (await http.post(f"{URL}/{'0' * len(name)}/keep")).status_code == 404


async def test_where_nothing_is_kept_for_good_nobody_keeps(tmp_path: Path) -> None:
    async with serving(tmp_path, done, keep_on_request=False) as http:
        made = (await http.post(URL, json=SCRIPT)).json()["id"]
        assert (await http.post(f"{URL}/{made}/keep")).status_code == 403


async def test_a_form_s_sender_deletes_by_its_cookie(http: httpx.AsyncClient) -> None:
    made = await http.post("/", data=SCRIPT)
    cookie = made.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    name, _, value = cookie.partition(";")[0].partition("=")
    async with elsewhere(http) as other:
        other.cookies.set(name, value)
        answer = await other.post(f"{made.headers['location']}/delete")
    assert answer.status_code == 200


async def test_an_idempotency_key_is_the_client_s_own(http: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    first = (await http.post(URL, json=SCRIPT, headers=key)).json()["id"]
    assert (await http.post(URL, json=SCRIPT, headers=key)).json()["id"] == first
    async with elsewhere(http) as other:
        assert (await other.post(URL, json=SCRIPT, headers=key)).json()["id"] != first


def everything_in(directory: Path) -> bytes:
    return b"".join(file.read_bytes() for file in directory.rglob("*sqlite3*"))


async def test_what_was_deleted_is_gone_from_the_files(tmp_path: Path) -> None:
    async with serving(tmp_path, done) as http:
        made = (await http.post(URL, json=SCRIPT)).json()["id"]
        assert b"unmistakable" in everything_in(tmp_path)
        assert (await http.delete(f"{URL}/{made}")).status_code == 204
        assert b"unmistakable" not in everything_in(tmp_path)


async def test_a_new_database_directory_is_private(tmp_path: Path) -> None:
    place = tmp_path / "var"
    async with serving(tmp_path, done, database_url=f"sqlite:///{place / 'g.sqlite3'}"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


async def test_a_locked_store_is_reported_with_a_time_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.database.LOCKED_S", 0.2)
    path = tmp_path / "g.sqlite3"
    async with serving(tmp_path, done, database_url=f"sqlite:///{path}") as http:
        blocking = sqlite3.connect(path, isolation_level=None)
        blocking.execute("BEGIN IMMEDIATE")
        answer = await http.post(URL, json=SCRIPT)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "database" in (await http.get("/readyz")).json()["reason"]
        blocking.execute("ROLLBACK")
        blocking.close()
        assert (await http.post(URL, json=SCRIPT)).status_code == 200
