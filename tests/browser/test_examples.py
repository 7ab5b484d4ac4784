"""Every example, from the click to the verified patch."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import Page, Route, expect

from app.pages.examples import Example, examples
from tests.browser.pages import Visit, diagnosed, keep, settled

pytestmark = pytest.mark.asyncio(loop_scope="session")
FAILING = [example for example in examples() if example.traceback]
HEALTHY = [example for example in examples() if not example.traceback]


@pytest.mark.rotating
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
    changed = [await patch.locator(f"td.{kind}").count() for kind in ("added", "removed")]
    assert example.outcome.startswith("Fix (+{} −{}): ".format(*changed))
    effect = await page.locator(".fixes .tag").first.inner_text()
    assert effect.removeprefix("✓ ") in example.outcome.lower()


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
    await expect(checked.nth(1)).to_have_text(
        re.compile(r"^Every parameter learns: \d+ parameters get a gradient\.$")
    )
    await expect(page.locator(".source-only table.listing")).to_contain_text("loss.backward()")


PAINTED = """() => new Promise((done) =>
  new PerformanceObserver(() => done()).observe({ type: "paint", buffered: true }),
)"""
SHIFTED = """async () => {
  const seen = [];
  const observer = new PerformanceObserver((list) => seen.push(...list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [...seen, ...observer.takeRecords()].reduce((sum, { value }) => sum + value, 0);
}"""


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
async def test_nothing_moves_when_the_scripts_begin(visit: Visit, phone: bool) -> None:
    page = await visit.open("/", phone=phone)
    kept = [{"id": "x", "words": "w", "at": "2026-01-01", "until": "9999-01-01"}]
    await page.evaluate("text => localStorage.setItem('gradmend.results', text)", json.dumps(kept))

    async def once_painted(route: Route) -> None:
        await page.evaluate(PAINTED)
        await route.continue_()

    await page.route("**/form.js*", once_painted)
    await page.reload()
    await expect(page.locator("#history a")).to_have_text("w")
    assert await page.evaluate(SHIFTED) < 0.001
    await keep(page, f"examples-{'phone' if phone else 'desk'}")


async def test_the_keyboard_reaches_and_starts_an_example(page: Page) -> None:
    card = page.get_by_role("button", name="A loop over samples that is perfectly fine")
    await expect(card).to_contain_text("Nothing to fix.")
    await page.locator("button[name=example]").nth(6).focus()
    await page.keyboard.press("Tab")
    await expect(card).to_be_focused()
    await page.keyboard.press("Enter")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text("Healthy")
