"""The user's own fix of a script that fails, with its diagnosis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.serving import serving
from tests.verified import FAILING, FIXED, FORGETFUL, diff

VERIFY = "/v1/verifications?wait=60"
pytestmark = pytest.mark.usefixtures("warm")


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(tmp_path, None, sandbox="jail") as client:
        yield client


@pytest.mark.rotating(4)
async def test_ones_own_fix_of_a_diagnosed_script_and_the_better_one_of_ours(
    http: httpx.AsyncClient,
) -> None:
    found = await http.post("/v1/diagnoses?wait=60", json={"script": FAILING}, timeout=90)
    diagnosis = found.json()
    assert diagnosis["patches"][0]["verification"]["status"] == "passed"
    good = {"diagnosis": diagnosis["id"], "patch": diff(FAILING, FIXED)}
    answer = (await http.post(VERIFY, json=good, timeout=90)).json()
    assert answer["verdict"] in ("same", "truncated"), answer
    assert answer["better"] is None
    bad = {"diagnosis": diagnosis["id"], "after": FORGETFUL}
    answer = (await http.post(VERIFY, json=bad, timeout=90)).json()
    assert answer["verdict"] in ("changed", "breaks"), answer
    assert answer["better"]["diff"] == diagnosis["patches"][0]["diff"]
