"""Every example, from the click to the verified patch."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect

from app.pages.examples import Example, examples
from tests.browser.pages import diagnosed, keep

pytestmark = pytest.mark.asyncio(loop_scope="session")
FAILING = [example for example in examples() if example.traceback]
HEALTHY = [example for example in examples() if not example.traceback]


@pytest.mark.parametrize("example", FAILING, ids=lambda example: example.name)
async def test_a_failing_example_ends_in_a_patch_that_was_run(page: Page, example: Example) -> None:
    await diagnosed(page, example.name)
    await keep(page, f"example-{example.name}")
    await expect(page.locator(".badge")).to_have_text(re.compile("^Reproduced and fixed"))
    patch = page.locator("section.fix").first
    await expect(page.locator(".fixes .tag").first).to_have_text(re.compile("^[✓≠] "))
    assert await patch.locator("td.added").count() > 0
    assert await patch.locator(".checks li.passed").count() >= 3
    assert await patch.locator(".checks li.failed").count() == 0
    assert await page.locator("tr.marked").count() >= 2


@pytest.mark.parametrize("example", HEALTHY, ids=lambda example: example.name)
async def test_a_healthy_example_is_called_healthy(page: Page, example: Example) -> None:
    await diagnosed(page, example.name)
    await keep(page, f"example-{example.name}")
    await expect(page.locator(".badge")).to_have_text("Healthy")
    assert await page.locator("section.fix").count() == 0
    assert await page.locator("svg.graph").count() == 1
    checked = page.locator("section:has(#checked) li")
    await expect(checked.first).to_have_text(re.compile(r"^No error in \d+ backward calls\.$"))
    assert await checked.count() >= 6
