"""A result that fills while it is looked at: what is selected, focused and chosen stays so."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from app.diagnose import Progress, diagnose
from app.request.reader import Reader
from app.schemas import Cause, DiagnosisRequest, Findings, Patch
from tests.browser.pages import Visit, keep
from tests.serving import listening

pytestmark = pytest.mark.asyncio(loop_scope="session")
SCRIPT = """\
import torch
from torch import nn

cell = nn.GRUCell(4, 8)
head = nn.Linear(8, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
hidden = torch.zeros(2, 8)
for step in range(20):
    hidden = cell(torch.randn(2, 4), hidden)
    loss = head(hidden).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


class Gate:
    """Lets a diagnosis by reading go on by one event at a time."""

    def __init__(self) -> None:
        self._open = asyncio.Semaphore(0)
        self.reader = Reader(workers=1)

    def let_by(self, count: int = 1) -> None:
        for _ in range(count):
            self._open.release()

    async def diagnose(self, request: DiagnosisRequest, progress: Progress) -> Findings:
        held = _Held(progress, self._open)
        found = await diagnose(request, sandbox=None, reader=self.reader, progress=held)
        await self._open.acquire()
        return found


class _Held:
    def __init__(self, progress: Progress, gate: asyncio.Semaphore) -> None:
        self._progress = progress
        self._gate = gate

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        await self._progress.stage(stage, done, total, message)

    async def cause(self, cause: Cause) -> None:
        await self._gate.acquire()
        await self._progress.cause(cause)

    async def patch(self, patch: Patch) -> None:
        await self._gate.acquire()
        await self._progress.patch(patch)


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def address(gate: Gate, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A service on this loop, whose diagnoses wait for the gate."""
    async with listening(tmp_path_factory.mktemp("live"), gate.diagnose) as address:
        yield address
    await gate.reader.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, address: str) -> AsyncIterator[Visit]:
    visit = Visit(browser, address)
    yield visit
    await visit.close()
    assert not visit.complaints, visit.complaints


async def begun(visit: Visit, *, scripts: bool = True) -> Page:
    """The page of a diagnosis that is under way, with a mark that a reload would wipe out."""
    async with httpx.AsyncClient(base_url=visit.base) as http:
        sent = {"script": SCRIPT, "run": "never"}
        made = (await http.post("/v1/diagnoses", params={"wait": 0}, json=sent)).json()
    page = await visit.open(f"/d/{made['id']}", scripts=scripts)
    await expect(page.locator("table.listing")).to_contain_text("import torch")
    return page


SELECT = """line => {
  const range = document.createRange();
  range.selectNodeContents(line);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


async def test_what_is_known_comes_without_a_reload(visit: Visit, gate: Gate) -> None:
    page = await begun(visit)
    await page.evaluate("window.unloaded = false")
    line = page.locator("td.source").filter(has_text="nn.Linear(8, 1)").first
    selected = (await line.inner_text()).strip()
    await line.evaluate(SELECT)
    await page.get_by_role("button", name="Cancel and delete").focus()
    await page.set_viewport_size({"width": 700, "height": 260})  # all above it is out of sight
    await line.evaluate("line => line.scrollIntoView({ block: 'start' })")
    before = await line.bounding_box()

    async def unchanged() -> None:
        assert await page.evaluate("window.unloaded") is False
        assert (await page.evaluate("getSelection().toString()")).strip() == selected
        after = await line.bounding_box()
        assert before is not None
        assert after is not None
        assert abs(after["y"] - before["y"]) < 2

    gate.let_by()
    await expect(page.locator(".story li").first).to_be_visible()
    await expect(page.get_by_role("button", name="Cancel and delete")).to_be_focused()
    await unchanged()
    gate.let_by(3)  # another cause, and two fixes
    await expect(page.locator("section.fix")).to_have_count(2)
    await unchanged()
    await keep(page, "live-fixes")
    chosen = page.locator("label.tab").nth(1)
    name = await chosen.locator(".tab-name").text_content()
    assert name
    await page.get_by_text("1 more with the same effect").click()
    await chosen.click()
    gate.let_by()
    await expect(page.get_by_text("2 more with the same effect")).to_be_visible()
    await expect(chosen).to_be_visible()
    gate.let_by(4)  # three more fixes, and the end
    await expect(page.locator(".badge")).to_have_text("Probable: not run")
    await expect(page.locator("input.tab:checked + label .tab-name")).to_have_text(name)
    await expect(page.locator("#progress-box")).to_have_count(0)
    await expect(page.locator("#copied")).to_have_text("Probable: not run")
    assert await page.title() != "Working on it · Gradmend"
    assert await page.evaluate("window.unloaded") is False
    await page.reload()
    await expect(page.locator(".badge")).to_have_text("Probable: not run")


async def test_a_stream_that_is_refused_is_asked_for_until_the_page_is_done(
    visit: Visit, gate: Gate
) -> None:
    page = await begun(visit)
    await page.clock.install()
    await page.route("**/events", lambda route: route.fulfill(status=503))
    await page.reload()
    for _ in range(4):
        async with page.expect_response("**/events"):
            await page.clock.run_for(3000)
    gate.let_by(9)
    await expect(page.locator(".badge")).to_have_text("Probable: not run")
    await page.unroute("**/events")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.clock.run_for(12_000)
    await page.evaluate("fetch('/static/site.css').then(() => 0)")  # what was asked for is heard of
    assert [url for url in asked if url.endswith("/events")] == []


RENEWED = """async ([old, wanted]) => {
  const { renew } = await import("/static/renew.js");
  const [part, other] = [document.createElement("main"), document.createElement("main")];
  [part.innerHTML, other.innerHTML] = [old, wanted];
  renew(part, other);
  return [part.innerHTML, other.innerHTML];
}"""


def tree(chance: random.Random, depth: int = 3) -> str:
    """Some HTML: elements with and without keys, texts, and the space between them."""
    parts = []
    for _ in range(chance.randrange(4)):
        name = chance.choice(["p", "li", "section"])
        key = chance.choice(["", "", f' data-key="{chance.randrange(4)}"', ' id="one"'])
        within = tree(chance, depth - 1) if depth else ""
        parts.append(f"<{name}{key}>{chance.choice(['', 'a', 'b'])}{within}</{name}>")
        parts.append(chance.choice(["\n", "", " text "]))
    return "".join(parts)


async def test_what_is_renewed_is_what_was_wanted(visit: Visit) -> None:
    page = await visit.open("/patterns")
    chance = random.Random(4)
    for _ in range(300):
        renewed, wanted = await page.evaluate(RENEWED, [tree(chance), tree(chance)])
        assert renewed == wanted
