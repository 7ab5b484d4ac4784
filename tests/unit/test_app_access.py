"""Who may ask the API, how often, and from where."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.app_answers import SCRIPT, URL, never
from tests.serving import serving


async def test_queue_beyond_its_bound_refuses_with_503(tmp_path: Path) -> None:
    async with serving(tmp_path, never, concurrency=1, queue_limit=2) as http:
        answers = [await http.post(URL, json=SCRIPT, params={"wait": 0}) for _ in range(6)]
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) == {202, 503}
    assert 2 <= statuses.count(202) <= 3
    assert int(answers[-1].headers["retry-after"]) >= 1


async def test_rate_limit_by_client(tmp_path: Path) -> None:
    async with serving(tmp_path, client=("203.0.113.7", 1), rate_limit="2/hour") as http:
        answers = [await http.post(URL, json=SCRIPT) for _ in range(3)]
        assert (await http.get("/healthz")).status_code == 200
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 3600


async def test_addresses_of_one_ipv6_network_are_one_client(tmp_path: Path) -> None:
    statuses = []
    async with serving(tmp_path, client=("2001:db8::1", 1), rate_limit="1/hour") as http:
        for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"):
            http._transport.client = (address, 1)  # type: ignore[attr-defined]
            statuses.append((await http.post(URL, json=SCRIPT)).status_code)
    assert statuses == [200, 429, 200]


async def test_loopback_is_not_counted(tmp_path: Path) -> None:
    async with serving(tmp_path, rate_limit="1/hour") as http:
        assert [(await http.post(URL, json=SCRIPT)).status_code for _ in range(2)] == [200, 200]


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, False),
        ({"Authorization": "Bearer wrong"}, False),
        ({"Authorization": "Basic !"}, False),
        ({"Authorization": "Bearer right"}, True),
        ({"X-API-Key": "also right"}, True),
        ({"Authorization": "Basic " + base64.b64encode(b"me:right").decode()}, True),
    ],
)
async def test_api_key(tmp_path: Path, headers: dict[str, str], allowed: bool) -> None:
    async with serving(tmp_path, api_keys="right, also right") as http:
        response = await http.post(URL, json=SCRIPT, headers=headers)
        assert response.status_code == (200 if allowed else 401)
        assert (await http.get("/v1/patterns")).status_code == 200
