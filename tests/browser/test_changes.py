"""Pages about changes: the form with two versions, the verdict, and one's own fix of a result."""

from __future__ import annotations

import httpx
import pytest
from playwright.async_api import expect

from tests.browser.pages import Visit, diagnosed, keep, looks, settled, write
from tests.verified import CHANGED, HEALTHY, RAISES, REFACTORED, diff

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating]
RESULTS: dict[tuple[str, str], str] = {}  # by service and version after, so that each runs once


async def address(visit: Visit, after: str) -> str:
    """The path of a verification's page."""
    if (visit.base, after) not in RESULTS:
        async with httpx.AsyncClient(base_url=visit.base, timeout=120) as http:
            body = {"before": HEALTHY, "after": after}
            made = await http.post("/v1/verifications?wait=60", json=body)
        assert made.status_code == 200, made.text
        RESULTS[visit.base, after] = f"/v/{made.json()['id']}"
    return RESULTS[visit.base, after]


async def test_two_versions_and_a_verdict_with_its_lines(visit: Visit) -> None:
    page = await visit.open("/verify")
    for name, text in (("Before the change", HEALTHY), ("After the change", CHANGED)):
        box = page.get_by_role("textbox", name=name)
        await box.click()
        await box.fill(text)
    await keep(page, "verify-filled")
    await page.get_by_role("button", name="Verify", exact=True).click()
    await settled(page)
    await expect(page.locator(".badge")).to_have_text("Changes the training")
    noted = page.locator("tr.witness").first
    await expect(noted.locator(".differs-note")).to_contain_text("differs first: step 1")
    await expect(page.locator("td.removed")).to_contain_text("mse_loss")
    await expect(page.locator("td.added")).to_contain_text("l1_loss")
    await page.get_by_role("link", name="Edit and verify again").click()
    await expect(page.locator("#before")).to_have_value(HEALTHY)
    await expect(page.locator("#after")).to_have_value(CHANGED)


async def test_without_scripts_a_patch_is_verified_and_a_mistake_keeps_the_text(
    visit: Visit,
) -> None:
    page = await visit.open("/verify", scripts=False)
    await page.fill("#before", HEALTHY)
    await page.click("summary")
    await page.fill("#patch", diff(HEALTHY, REFACTORED).replace("mse_loss", "huber_loss"))
    await page.click("button.primary")
    await expect(page.get_by_role("alert")).to_contain_text("hunk 1 of train.py")
    await expect(page.locator("#before")).to_have_value(HEALTHY)
    await page.fill("#patch", diff(HEALTHY, REFACTORED))
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text("Same training")
    await page.click("text=Delete this result and both versions")
    await page.click("text=Delete for good")
    await expect(page.locator("h1")).to_have_text("Deleted")


async def test_ones_own_fix_of_a_result_is_tested(visit: Visit) -> None:
    page = await visit.open("/")
    await diagnosed(page, "lstm")
    await page.locator("summary", has_text="My own fix").click()
    box = page.get_by_role("textbox", name="The script with your fix")
    await expect(box).to_be_visible()
    text = await page.locator("#after").input_value()
    assert ".backward()" in text
    await write(page, text.replace(".backward()", ".backward(retain_graph=True)"), "#after")
    await keep(page, "own-fix")
    await page.get_by_role("button", name="Test it").click()
    await settled(page)
    await expect(page.locator(".badge")).not_to_have_text("Same training")


@pytest.mark.parametrize(
    ("after", "badge"),
    [
        ("", None),
        (CHANGED, "Changes the training"),
        (RAISES, "Breaks the training"),
        (REFACTORED, "Same training"),
    ],
    ids=["form", "changed", "breaks", "same"],
)
async def test_no_rule_is_broken(visit: Visit, after: str, badge: str | None) -> None:
    page = await visit.open(await address(visit, after) if after else "/verify")
    async for _ in looks(page, f"verify-{badge or 'form'}".replace(" ", "-")):
        shown = page.locator(".badge") if badge else page.locator("h1")
        await expect(shown).to_have_text(badge or "Verify a change")
