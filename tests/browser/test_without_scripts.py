"""The pages without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from app.pages.examples import examples
from tests.browser.pages import Visit, diagnosed, keep, settled

pytestmark = pytest.mark.asyncio(loop_scope="session")
LSTM = next(example for example in examples() if example.name == "lstm")


async def test_an_example_refreshes_itself_to_its_result(visit: Visit) -> None:
    page = await visit.open("/", scripts=False)
    await diagnosed(page, "lstm")
    await expect(page.locator(".badge")).to_have_text(re.compile("^Reproduced and fixed"))
    await expect(page.locator("[data-copy]").first).to_be_hidden()
    await page.click("#share")
    await page.click("text=As Markdown, with everything")
    await expect(page.locator("#markdown")).to_be_visible()
    await keep(page, "without-scripts")


async def test_pasted_text_and_uploaded_files_are_taken(visit: Visit, tmp_path: Path) -> None:
    page = await visit.open("/", scripts=False)
    script = tmp_path / "charlm.py"
    script.write_text(LSTM.script)
    await page.set_input_files("#files", script)
    await page.fill("#traceback", LSTM.traceback)
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator("table.listing caption").first).to_have_text("charlm.py")


async def test_a_mistake_keeps_the_text(visit: Visit) -> None:
    page = await visit.open("/", scripts=False)
    await page.fill("#traceback", "RuntimeError: x")
    await page.fill("#filename", "../train.py")
    await page.click("button.primary")
    await expect(page.get_by_role("alert")).to_contain_text("../train.py")
    await expect(page.locator("#traceback")).to_have_value("RuntimeError: x")
