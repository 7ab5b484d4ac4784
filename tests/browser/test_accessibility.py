"""Rules of accessibility, in light and dark, on a desk and on a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Page, expect

from tests.browser.pages import Visit, diagnosed, keep, overflow

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating]
STATES = [
    "/",
    "/docs",
    "/patterns",
    "/messages",
    "/patterns/recurrent-state",
    "/d/missing",
    "lstm",
    "residual",
    "healthy",
]
GRAVE = ("serious", "critical")


RESULTS: dict[tuple[str, str], str] = {}  # by service and example, so that each runs once


async def opened(visit: Visit, state: str, *, phone: bool, dark: bool) -> Page:
    """A page, or the result of an example with everything on it unfolded."""
    if state.startswith("/"):
        return await visit.open(state, phone=phone, dark=dark)
    page = await visit.open(RESULTS.get((visit.base, state), "/"), phone=phone, dark=dark)
    if (visit.base, state) not in RESULTS:
        await diagnosed(page, state)
        RESULTS[visit.base, state] = page.url
    for details in await page.locator("details").all():
        await details.evaluate("element => { element.open = true }")
    return page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
@pytest.mark.parametrize("state", STATES)
async def test_no_rule_is_broken(visit: Visit, state: str, phone: bool, dark: bool) -> None:
    page = await opened(visit, state, phone=phone, dark=dark)
    name = state.strip("/").replace("/", "-") or "form"
    await keep(page, f"{name}-{'phone' if phone else 'desk'}-{'dark' if dark else 'light'}")
    found = (await Axe().run(page)).response["violations"]
    broken = [
        (rule["id"], [node["target"] for node in rule["nodes"]])
        for rule in found
        if rule["impact"] in GRAVE
    ]
    assert broken == []
    assert await overflow(page) <= 0


async def test_the_picture_says_what_it_shows(visit: Visit) -> None:
    page = await opened(visit, "lstm", phone=False, dark=False)
    picture = page.get_by_role("img", name="A freed graph is needed again")
    await expect(picture).to_be_visible()
    reported = await picture.locator("desc").text_content()
    assert reported is not None
    assert "needs it again through hidden, and fails" in reported
