"""The pictures in the documentation: `python -m tests.browser.screenshots` renews them."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import httpx
from playwright.async_api import Browser, async_playwright

from app.pages.examples import examples
from tests.browser.pages import DESK, Visit, diagnosed, write
from tests.browser.running import CHROMIUM_FLAGS, ROOT, chromium, running_service
from tests.browser.test_states import STATES, address

LSTM = next(example for example in examples() if example.name == "lstm")
IMAGES = ROOT / "docs" / "images"


async def take(base: str) -> None:
    """The filled form, a result by day with its fix and picture, the same on a phone by night, and
    every state that a result can be in."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        visit = Visit(browser, base)
        page = await visit.open("/")
        await write(page, LSTM.script)
        await page.fill("#traceback", LSTM.traceback)
        await page.locator(".cm-scroller").evaluate("box => box.scrollTo(0, box.scrollHeight)")
        await page.locator(".cm-failing").wait_for()
        await page.screenshot(path=IMAGES / "form.png")
        await diagnosed(page, "lstm")
        end = await page.evaluate(
            "document.querySelector('.answer').getBoundingClientRect().bottom"
        )
        clip = {"x": 0, "y": 0, "width": DESK["width"], "height": end}
        await page.screenshot(path=IMAGES / "result.png", full_page=True, clip=clip)  # type: ignore[arg-type]
        phone = await visit.open(page.url, phone=True)
        await phone.emulate_media(color_scheme="dark")
        await phone.screenshot(path=IMAGES / "phone.png")
        await visit.close()
        await take_states(browser, base)
        await browser.close()


async def take_states(browser: Browser, base: str) -> None:
    """The first screen of a result in each state, and of one that was deleted."""
    visit = Visit(browser, base)
    for name in STATES:
        page = await visit.open(await address(base, name))
        await page.screenshot(path=IMAGES / f"state-{name}.png")
    async with httpx.AsyncClient(base_url=base, timeout=90) as http:
        made = (
            await http.post("/v1/diagnoses", json={"script": LSTM.script, "run": "never"})
        ).json()
        await http.delete(f"/v1/diagnoses/{made['id']}")
    page = await visit.open(f"/d/{made['id']}")
    await page.screenshot(path=IMAGES / "state-deleted.png")
    await visit.close()


def main() -> None:
    """Start a service, take the pictures, stop it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, running_service(Path(directory)) as base:
        asyncio.run(take(base))
    print(f"written: {', '.join(sorted(image.name for image in IMAGES.glob('*.png')))}")


if __name__ == "__main__":
    main()
