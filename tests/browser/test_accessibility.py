"""Rules of accessibility, in light and dark, on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.browser.pages import Visit, diagnosed, looks

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

RESULTS: dict[tuple[str, str], str] = {}  # by service and example, so that each runs once


async def opened(visit: Visit, state: str) -> Page:
    """A page, or the result of an example."""
    if state.startswith("/"):
        return await visit.open(state)
    page = await visit.open(RESULTS.get((visit.base, state), "/"))
    if (visit.base, state) not in RESULTS:
        await diagnosed(page, state)
        RESULTS[visit.base, state] = page.url
    return page


@pytest.mark.parametrize("state", STATES)
async def test_no_rule_is_broken(visit: Visit, state: str) -> None:
    page = await opened(visit, state)
    async for _ in looks(page, state.strip("/").replace("/", "-") or "form"):
        await expect(page.locator("h1").first).to_be_visible()


async def test_the_picture_says_what_it_shows(visit: Visit) -> None:
    page = await opened(visit, "lstm")
    picture = page.get_by_role("img", name="A freed graph is needed again")
    await expect(picture).to_be_visible()
    reported = await picture.locator("desc").text_content()
    assert reported is not None
    assert "needs it again through hidden, and fails" in reported
