"""Every state of a result: on a desk and a phone, in light and dark, without JavaScript."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import expect

from app.pages.examples import examples
from tests.browser.pages import Visit, keep, looks

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating]
SCRIPTS = {example.name: example for example in examples()}
LSTM, HEALTHY = SCRIPTS["lstm"], SCRIPTS["healthy"]

TRUNCATED = "Reproduced and fixed; truncates the gradients"
OWN_DATA = """\
import torch
values = torch.tensor([float(line) for line in open("prices.csv")])
w = torch.ones(1, requires_grad=True)
total = (w * values).exp().sum()
for step in range(3):
    total.backward()
"""
# A value that is made once and asked for again and again: no cut and no new forward will do.
NO_FIX = """\
import torch

w = torch.ones(3, requires_grad=True)


class Walk:
    def __init__(self):
        self.y = (w * w).exp()

    def go(self, made):
        loss = self.y.sum()
        assert loss.grad_fn.next_functions[0][0] is made is not None
        getattr(loss, "back" + "ward")()


def run(walk, made):
    for step in range(3):
        walk.go(made)


walk = Walk()
run(walk, walk.y.grad_fn)
"""


def _project() -> dict[str, Any]:
    head, _, rest = LSTM.script.partition("class CharModel")
    model, _, train = rest.partition("def batches")
    net = f"import torch\nfrom torch import nn\n\n\nclass CharModel{model}"
    return {
        "script": f"{head}from models.net import CharModel\n\n\ndef batches{train}",
        "files": [{"path": "models/net.py", "content": net}],
    }


def _notebook() -> dict[str, Any]:
    head, _, rest = LSTM.script.partition("torch.manual_seed")
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": []}
    sources = (head, f"torch.manual_seed{rest}")
    cells = [{**cell, "source": source.splitlines(keepends=True)} for source in sources]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return {"script": json.dumps(notebook), "filename": "lesson.ipynb"}


def _seen(base: str) -> dict[str, Any]:
    """A script whose data is here only, with the records of its run next to it."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        (home / "train.py").write_text(OWN_DATA)
        (home / "prices.csv").write_text("1\n2\n")
        (home / "gradmend_trace.py").write_text(httpx.get(f"{base}/gradmend_trace.py").text)
        command = [sys.executable, "gradmend_trace.py", "train.py"]
        subprocess.run(command, cwd=home, capture_output=True, check=False)
        trace = (home / "gradmend-trace.jsonl").read_text()
    return {"script": OWN_DATA, "trace": trace, "run": "never"}


@dataclass(frozen=True)
class State:
    """What its badge says, what is sent for it, and something that its page must show."""

    badge: str
    sent: Callable[[str], dict[str, Any]]
    shows: str


STATES = {
    "fixed": State(TRUNCATED, lambda _: {"script": LSTM.script}, "tr.added"),
    "probable": State(
        "Probable: not run", lambda _: {"script": LSTM.script, "run": "never"}, ".untested"
    ),
    "seen": State("Seen in your run; fix not tested", _seen, ".story"),
    "healthy": State("Healthy", lambda _: {"script": HEALTHY.script}, "svg.graph"),
    "not-reproduced": State(
        "We could not reproduce it",
        lambda _: {"script": HEALTHY.script, "traceback": LSTM.traceback},
        "#next",
    ),
    "missing-input": State(
        "We need one more thing",
        lambda _: {"script": "import torch\n\nname = input()\ntorch.load(name).backward()\n"},
        ".next",
    ),
    "no-fix-passed": State(
        "Reproduced; no fix passed", lambda _: {"script": NO_FIX}, ".chips .failed"
    ),
    "several-files": State(TRUNCATED, lambda _: _project(), "caption >> nth=1"),
    "notebook": State(TRUNCATED, lambda _: _notebook(), "tr.cell"),
}
DONE: dict[tuple[str, str], str] = {}  # path of the page by service and state: each runs once


async def address(base: str, name: str) -> str:
    if (base, name) not in DONE:
        async with httpx.AsyncClient(base_url=base, timeout=90) as http:
            sent = STATES[name].sent(base)
            answer = await http.post("/v1/diagnoses", params={"wait": 60}, json=sent)
            found = answer.json()
            while found["status"] != "done":
                await asyncio.sleep(1)
                found = (await http.get(f"/v1/diagnoses/{found['id']}")).json()
        DONE[base, name] = f"/d/{found['id']}"
    return DONE[base, name]


@pytest.mark.parametrize("name", STATES)
async def test_each_state_says_what_it_is(visit: Visit, name: str) -> None:
    page = await visit.open(await address(visit.base, name))
    async for _ in looks(page, f"state-{name}"):
        await expect(page.locator(".badge")).to_have_text(STATES[name].badge)
        await expect(page.locator(STATES[name].shows).first).to_be_visible()


@pytest.mark.parametrize("name", STATES)
async def test_each_state_is_whole_without_javascript(visit: Visit, name: str) -> None:
    page = await visit.open(await address(visit.base, name), scripts=False)
    await expect(page.locator(".badge")).to_have_text(STATES[name].badge)
    await expect(page.locator(STATES[name].shows).first).to_be_visible()
    await expect(page.locator("button.script-only >> visible=true")).to_have_count(0)


async def test_a_fix_that_failed_says_why_and_is_not_copied(visit: Visit) -> None:
    page = await visit.open(await address(visit.base, "no-fix-passed"))
    fix = page.locator("section.fix").first
    await expect(fix.locator(".effect")).to_contain_text("it still fails")
    await expect(fix.get_by_role("button", name="Copy")).to_have_count(0)


async def test_the_keyboard_copies_the_fix(visit: Visit) -> None:
    page = await visit.open(await address(visit.base, "fixed"))
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for _ in range(30):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == "Copy fix":
            break
    await page.keyboard.press("Enter")
    await expect(page.locator("#copied")).to_have_text("Copied")
    assert "detach" in await page.evaluate("navigator.clipboard.readText()")


async def test_a_deleted_result_says_so_to_whoever_has_its_link(visit: Visit) -> None:
    sent = STATES["probable"].sent(visit.base)
    async with httpx.AsyncClient(base_url=visit.base, timeout=90) as http:
        made = (await http.post("/v1/diagnoses", json=sent)).json()
        assert (await http.delete(f"/v1/diagnoses/{made['id']}")).status_code == 204
    page = await visit.open(f"/d/{made['id']}", phone=True)
    await expect(page.locator("h1")).to_have_text("This result does not exist")
    await keep(page, "state-deleted")
