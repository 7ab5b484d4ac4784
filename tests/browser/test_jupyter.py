"""The box under an error in a real JupyterLab: its button replaces the faulty cell."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, Locator, Page, TimeoutError, expect

from tests.browser.pages import keep
from tests.notebooks import notebook
from tests.processes import free_port

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating]
START_S, RUN_MS = 120, 180_000
FAULTY = """\
import torch

cell = torch.nn.GRUCell(3, 3)
x, state = torch.randn(8, 3), torch.zeros(8, 3)
for step in range(3):
    state = cell(x, state)
    state.pow(2).mean().backward()
print("trained", "<b>")"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab with a notebook in it, which saves nothing by itself."""
    home = tmp_path_factory.mktemp("lab")
    lesson = json.loads(notebook("%load_ext gradmend", FAULTY))
    lesson["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    (home / "lesson.ipynb").write_text(json.dumps(lesson))
    port = free_port()
    options = {
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": str(home),
        "IdentityProvider.token": "",
        "LabApp.extension_manager": "readonly",
    }
    words = [f"--{name}={value}" for name, value in options.items()]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *words],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _await_answer(f"http://127.0.0.1:{port}/api", home / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)


def _await_answer(url: str, log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            if httpx.get(url, timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


async def _run(page: Page, cell: Locator) -> None:
    """Run a cell from the keyboard. JupyterLab drops keys while it starts, and where its list of
    kernels comes late it asks which one to take, in a dialog that covers the cells."""
    before = await cell.locator(".jp-InputPrompt").inner_text()
    asked: list[str] = []
    for _ in range(20):
        async for dialog in _dialogs(page):
            asked.append(await dialog.inner_text())
            await dialog.locator(".jp-mod-accept").click(timeout=5_000)
        try:
            await cell.locator(".cm-content").click(timeout=5_000)
            await page.keyboard.press("Control+Enter")
            await expect(cell.locator(".jp-InputPrompt")).not_to_have_text(before, timeout=5_000)
        except (AssertionError, TimeoutError):
            continue
        return
    raise AssertionError(f"the cell did not run; dialogs that were accepted: {asked}")


async def _dialogs(page: Page) -> AsyncIterator[Locator]:
    """Yield the dialog that is open, until none is."""
    dialog = page.locator("dialog.jp-Dialog[aria-modal=true]").last
    while await dialog.count():
        yield dialog


async def test_the_button_replaces_the_faulty_cell(browser: Browser, lab: str) -> None:
    context = await browser.new_context(viewport={"width": 1200, "height": 1000})
    page = await context.new_page()
    page.set_default_timeout(RUN_MS)
    await page.goto(f"{lab}/lab/tree/lesson.ipynb")
    cells = page.locator(".jp-CodeCell")
    await expect(cells).to_have_count(2, timeout=RUN_MS)
    for number in (0, 1):
        await _run(page, cells.nth(number))
        prompt = cells.nth(number).locator(".jp-InputPrompt")
        await expect(prompt).to_have_text(f"[{number + 1}]:", timeout=RUN_MS)
    button = cells.nth(1).get_by_role("button", name="Replace cell [2]")
    await expect(button).to_be_visible(timeout=RUN_MS)
    await keep(page, "jupyter-box")
    await button.click()
    await expect(cells.nth(1).locator(".cm-content")).to_contain_text("detach()")
    await page.keyboard.press("Control+s")
    await _run(page, cells.nth(1))
    await expect(cells.nth(1).locator(".jp-OutputArea-output")).to_have_text(
        "trained <b>", timeout=RUN_MS
    )
    await keep(page, "jupyter-fixed")
    kept = await context.request.get(f"{lab}/api/contents/lesson.ipynb")
    source = json.loads(await kept.text())["content"]["cells"][1]["source"]
    compile(source, "cell", "exec")
    assert len(source.splitlines()) in (len(FAULTY.splitlines()), len(FAULTY.splitlines()) + 1)
    await context.close()
