"""HEAD, wherever GET is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serving import serving


@pytest.mark.parametrize("path", ["/", "/patterns", "/docs", "/healthz", "/v1/patterns", "/gone"])
async def test_head_is_get_without_its_body(path: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        got, head = await http.get(path), await http.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    for name in ("content-type", "content-length", "content-security-policy"):
        assert head.headers.get(name) == got.headers.get(name)


async def test_where_nothing_is_to_get_head_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        refused = await http.head("/v1/diagnoses")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


async def test_the_head_of_a_stream_ends(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        posted = await http.post("/v1/diagnoses", json={"script": "x = 1\n"})
        head = await http.head(f"/v1/diagnoses/{posted.json()['id']}/events")
    assert head.headers["content-type"].startswith("text/event-stream")
    assert head.content == b""
