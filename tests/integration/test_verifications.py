"""`/v1/verifications` as its clients use it, with real runs in the sandbox."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.serving import serving
from tests.verified import (
    CHANGED,
    HEALTHY,
    RAISES,
    REFACTORED,
    UNREPEATABLE,
    diff,
)

VERIFY = "/v1/verifications?wait=60"
pytestmark = pytest.mark.usefixtures("warm")


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(tmp_path, None, sandbox="jail") as client:
        yield client


async def test_a_refactoring_is_the_same_and_is_answered_from_the_store_the_second_time(
    http: httpx.AsyncClient,
) -> None:
    body = {"before": HEALTHY, "after": REFACTORED}
    first = await http.post(VERIFY, json=body, timeout=90)
    assert first.status_code == 200, first.text
    answer = first.json()
    assert answer["verdict"] == "same", answer
    assert answer["witness"] is None
    assert answer["steps_compared"] == answer["steps_equal"] == 12
    assert answer["environment"]["torch"]
    again = await http.post("/v1/verifications?wait=20", json=body)
    repeated = again.json()
    assert repeated["verdict"] == "same"
    assert repeated["timings_ms"]["verify"] == 0, "it was worked on again"
    assert repeated["id"] != answer["id"]


async def test_another_loss_is_a_change_with_the_step_and_the_lines(
    http: httpx.AsyncClient,
) -> None:
    made = await http.post(VERIFY, json={"before": HEALTHY, "after": CHANGED}, timeout=90)
    answer = made.json()
    assert answer["verdict"] == "changed", answer
    assert answer["witness"]["step"] == 1
    where = made.headers["location"]
    brief = await http.get(where, params={"view": "brief"})
    assert len(brief.content) < 1000
    assert set(brief.json()) >= {"id", "verdict", "summary", "witness"}
    reported = await http.get(where, headers={"Accept": "text/markdown"})
    assert reported.headers["content-type"].startswith("text/markdown")
    assert "**Changes the training.**" in reported.text
    assert answer["url"] in reported.text
    same = await http.get(where, headers={"If-None-Match": (await http.get(where)).headers["etag"]})
    assert same.status_code == 304


@pytest.mark.rotating
async def test_form_parts_and_a_patch_do_the_same_as_json(http: httpx.AsyncClient) -> None:
    sent = {
        "before": ("loop.py", HEALTHY.encode(), "text/x-python"),
        "patch": ("fix.diff", diff(HEALTHY, RAISES, "loop.py").encode(), "text/x-diff"),
    }
    made = await http.post(VERIFY, files=sent, timeout=90)
    assert made.status_code == 200, made.text
    answer = made.json()
    assert answer["verdict"] == "breaks", answer
    assert "steps" in answer["summary"] or "AttributeError" in answer["summary"]


@pytest.mark.rotating(4)
async def test_a_script_that_does_not_repeat_itself_is_not_comparable(
    http: httpx.AsyncClient,
) -> None:
    body = {"before": UNREPEATABLE, "after": UNREPEATABLE + "\nprint(loss)\n"}
    answer = (await http.post(VERIFY, json=body, timeout=90)).json()
    assert answer["verdict"] == "not_comparable", answer


@pytest.mark.rotating
async def test_a_change_in_a_module_needs_only_that_file(http: httpx.AsyncClient) -> None:
    script = HEALTHY.replace(
        "model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))\n",
        "from net import build\n\nmodel = build()\n",
    )
    net = "from torch import nn\n\n\ndef build():\n    return nn.Linear(4, 1)\n"
    other = net.replace("nn.Linear(4, 1)", "nn.Sequential(nn.Linear(4, 1), nn.Tanh())")
    body = {
        "before": script,
        "files_before": [{"path": "net.py", "content": net}],
        "files_after": [{"path": "net.py", "content": other}],
    }
    answer = (await http.post(VERIFY, json=body, timeout=90)).json()
    assert answer["verdict"] == "changed", answer


@pytest.mark.rotating(4)
async def test_events_keep_and_delete_are_as_for_diagnoses(http: httpx.AsyncClient) -> None:
    made = await http.post(
        "/v1/verifications?wait=0", json={"before": HEALTHY, "after": REFACTORED}
    )
    assert made.status_code == 202
    assert made.headers["retry-after"]
    where = made.headers["location"]
    async with http.stream("GET", f"{where}/events", timeout=90) as stream:
        lines = [line async for line in stream.aiter_lines()]
    kinds = [line.partition(": ")[2] for line in lines if line.startswith("event:")]
    assert kinds[0] == "status"
    assert "progress" in kinds
    assert kinds[-1] == "done"
    kept = await http.post(f"{where}/keep")
    assert kept.status_code == 200
    assert kept.json()["expires_at"].startswith("9999")
    identity = where.rpartition("/")[2]
    assert (await http.get(f"/v1/diagnoses/{identity}")).status_code == 404
    assert (await http.delete(where)).status_code == 204
    assert (await http.get(where)).status_code == 404


@pytest.mark.rotating
async def test_a_notebook_and_its_script_are_compared_as_scripts(http: httpx.AsyncClient) -> None:
    def notebook(*cells: str) -> str:
        made = [
            {
                "cell_type": "code",
                "metadata": {},
                "execution_count": n,
                "outputs": [],
                "source": cell,
            }
            for n, cell in enumerate(cells, 1)
        ]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    setup, loop = HEALTHY.split("for step", 1)
    before, after = notebook(setup, f"for step{loop}"), notebook(setup + f"for step{loop}")
    body = {"before": before, "after": after, "filename": "train.ipynb"}
    answer = (await http.post(VERIFY, json=body, timeout=90)).json()
    assert answer["verdict"] == "same", answer
    changed = notebook(setup, f"for step{loop}".replace("mse_loss", "l1_loss"))
    body["after"] = changed
    answer = (await http.post(VERIFY, json=body, timeout=90)).json()
    assert answer["verdict"] == "changed", answer
    page = await http.get(f"/v/{answer['id']}")
    assert page.status_code == 200
    assert "l1_loss" in page.text


async def test_a_part_of_a_program_is_completed_for_both_versions(
    http: httpx.AsyncClient,
) -> None:
    part = (
        "for epoch in range(6):\n    for x, y in loader:\n        optimizer.zero_grad()\n"
        "        loss = criterion(model(x), y)\n        loss.backward()\n        optimizer.step()\n"
    )
    renamed = part.replace("loss", "objective")
    body = {"before": part, "after": renamed, "time_limit_s": 30}
    answer = (await http.post(VERIFY, json=body, timeout=90)).json()
    assert answer["verdict"] == "same", answer
    assert any(note.startswith("Assumed: ") for note in answer["notes"])


@pytest.mark.rotating(4)
async def test_what_only_a_run_suspects_is_no_new_fault(http: httpx.AsyncClient) -> None:
    loop = (
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\nnet = nn.Linear(3, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(6):\n"
        "    opt.zero_grad(){reads}\n    net(torch.randn(8, 3)).pow(2).mean().backward()\n"
        "    opt.step()\n"
    )
    checked = "\n    if net.weight.grad is not None:\n        net.weight.grad.zero_()"
    body = {"before": loop.format(reads=""), "after": loop.format(reads=checked)}
    answer = (await http.post(VERIFY, json=body, timeout=90)).json()
    assert (answer["verdict"], answer["notes"]) == ("same", []), answer
