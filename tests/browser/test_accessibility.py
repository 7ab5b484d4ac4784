"""Rules of accessibility, in light and dark, on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.pages import Visit, looks, result_of

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


@pytest.mark.parametrize("state", STATES)
async def test_no_rule_is_broken(visit: Visit, state: str) -> None:
    page = await (visit.open(state) if state.startswith("/") else result_of(visit, state))
    async for _ in looks(page, state.strip("/").replace("/", "-") or "form"):
        await expect(page.locator("h1").first).to_be_visible()


async def test_the_picture_says_what_it_shows(visit: Visit) -> None:
    page = await result_of(visit, "lstm")
    picture = page.get_by_role("img", name="A freed graph is needed again")
    await expect(picture).to_be_visible()
    reported = await picture.locator("desc").text_content()
    assert reported is not None
    assert "needs it again through hidden, and fails" in reported
