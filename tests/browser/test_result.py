"""A result: what can be taken along, how much it weighs, and that it can be deleted."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import Page, Response, expect

from app.pages.examples import examples
from tests.browser.pages import Visit, diagnosed, keep, result_of, settled, write

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating(4)]
LSTM = next(example for example in examples() if example.name == "lstm")
HEAVIEST = 150_000


def git_apply(directory: Path, diff: str) -> None:
    subprocess.run(["git", "apply", diff], cwd=directory, check=True)


@pytest.mark.rotating(1)  # what a user does, each time
async def test_the_downloaded_diff_applies_and_gives_the_patched_script(
    visit: Visit, tmp_path: Path
) -> None:
    page = await result_of(visit, "lstm")
    (tmp_path / "train.py").write_text(LSTM.script)
    await page.get_by_text("Download or apply it").first.click()
    for label, name in (("the diff", "a.diff"), ("the fixed script", "patched.py")):
        async with page.expect_download() as download:
            await page.locator(".take").first.get_by_text(f"Download {label}").click()
        await (await download.value).save_as(tmp_path / name)
    git_apply(tmp_path, "a.diff")
    patched = (tmp_path / "patched.py").read_text()
    assert (tmp_path / "train.py").read_text() == patched != LSTM.script


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
async def test_nothing_at_the_top_of_a_result_touches(visit: Visit, phone: bool) -> None:
    page = await result_of(visit, "lstm", phone=phone)

    async def box(selector: str) -> tuple[float, float, float, float]:
        found = await page.locator(selector).first.bounding_box()
        assert found is not None, selector
        right, bottom = found["x"] + found["width"], found["y"] + found["height"]
        return found["x"], found["y"], right, bottom

    badge, share, title = await box(".badge"), await box("#share"), await box("h1")
    assert badge[2] < share[0]  # side by side
    assert max(badge[3], share[3]) + 4 <= title[1]
    above, heading = await box("fieldset.tabs"), await box(".fix h2 >> visible=true")
    assert above[3] + 8 <= heading[1]
    for name in await page.locator(".tab-name").all():
        cut = "name => [...name.children].some(part => part.scrollWidth > part.clientWidth + 1)"
        assert not phone or not await name.is_visible() or not await name.evaluate(cut)


async def test_what_is_copied_is_the_diff_the_command_and_the_markdown(page: Page) -> None:
    await diagnosed(page, "gan")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    address = page.url.replace("/d/", "/v1/diagnoses/")

    async def copied(selector: str) -> str:
        await page.locator(selector).first.click()
        await expect(page.locator("#copied")).to_have_text("Copied")
        text: str = await page.evaluate("navigator.clipboard.readText()")
        return text

    await page.get_by_text("Download or apply it").first.click()
    diff = await copied("[data-copy=diff-1]")
    served = await page.request.get(f"{address}/patches/1.diff")
    assert diff == await served.text()
    assert await copied("[data-copy=apply-1]") == f"curl -s {address}/patches/1.diff | git apply"
    await page.click("#share")
    await page.click("text=As Markdown, with everything")
    markdown = await copied("[data-copy=markdown]")
    assert page.url in markdown
    assert diff.strip() in markdown


@pytest.mark.rotating(1)  # what a user does, each time
async def test_the_fix_is_on_the_first_screen(visit: Visit) -> None:
    page = await result_of(visit, "lstm")
    await expect(page.locator(".fix-line")).to_have_text("Fix: add one line before line 41.")
    for width, height in ((1440, 900), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        for selector in ("tr.added td.source", "[data-copy=snippet-1]"):
            box = await page.locator(selector).first.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height, selector


async def test_each_fix_has_a_tab_and_is_reported_by_what_it_does(visit: Visit) -> None:
    page = await result_of(visit, "lstm")
    fixes = page.locator("section.fix")
    assert await fixes.count() > 1
    await expect(fixes.nth(0)).to_be_visible()
    await expect(fixes.nth(1)).to_be_hidden()
    await expect(page.locator("label.tab").first).to_have_text(
        re.compile("^Detach hidden at the head of the loop\\s+✓ truncated$")
    )
    await page.get_by_text("more with the same effect").click()
    await page.focus("#fix-1")
    await page.keyboard.press("ArrowRight")
    await expect(fixes.nth(0)).to_be_hidden()
    await expect(fixes.nth(1)).to_be_visible()
    await expect(fixes.nth(1).locator("tr.added").first).to_be_visible()


async def test_margin_story_and_picture_share_their_numbers(visit: Visit) -> None:
    page = await result_of(visit, "lstm")
    await expect(page.locator("section.fix").first.locator(".note .n")).to_have_count(4)
    story = await page.locator(".story .n").all_text_contents()
    margin = await page.locator("section.fix").first.locator(".note .n").all_text_contents()
    picture = " ".join(await page.locator("svg.graph text").all_text_contents())
    assert story == ["①", "②", "③", "④"]
    assert sorted(margin) == story
    assert all(number in picture for number in story)


async def test_a_whole_file_can_be_opened(visit: Visit) -> None:
    page = await result_of(visit, "lstm")
    await page.locator("section.fix").first.get_by_text("Show all of train.py").click()
    rows = page.locator("table.listing tbody tr")
    await expect(rows).to_have_count(len(LSTM.script.rstrip("\n").split("\n")))
    await expect(page.locator(".note").first).to_be_visible()


async def test_a_result_weighs_little(visit: Visit) -> None:
    page = await result_of(visit, "lstm")
    answers: list[Response] = []
    fresh = await visit.open("about:blank")
    fresh.on("response", lambda answer: answers.append(answer))
    await fresh.goto(page.url)
    await fresh.wait_for_load_state("networkidle")
    weight = sum([len(await answer.body()) for answer in answers])
    assert len(answers) >= 4
    assert weight < HEAVIEST


async def test_a_deleted_result_is_gone(page: Page) -> None:
    await diagnosed(page, "healthy")
    address = page.url
    await expect(page.get_by_text("Delete for good")).to_be_hidden()
    await page.click("text=Delete this result")
    await page.click("text=Delete for good")
    await expect(page.locator("h1")).to_have_text("Deleted")
    answer = await page.goto(address)
    assert answer is not None
    assert answer.status == 404
    await expect(page.locator("h1")).to_have_text("This result does not exist")


async def test_a_result_is_kept_on_request(page: Page) -> None:
    await diagnosed(page, "healthy")
    await page.click("#share")
    await page.get_by_role("button", name="Keep it for good").click()
    await settled(page)
    await expect(page.locator("#share + p")).to_contain_text("until its sender deletes it")
    await expect(page.get_by_role("button", name="Keep it for good")).to_have_count(0)


async def test_own_results_are_listed_in_this_browser(page: Page) -> None:
    await diagnosed(page, "healthy")
    headline = await page.locator("h1").inner_text()
    address = page.url
    await page.goto("/")
    await expect(page.locator("#history a")).to_have_text(headline)
    await page.click("#history a")
    await settled(page)
    assert page.url == address
    await page.click("text=Delete this result")
    await page.click("text=Delete for good")
    await page.goto("/")
    await expect(page.locator("#history")).to_be_hidden()


async def test_what_ran_is_said_and_a_wrong_answer_can_be_reported(page: Page) -> None:
    await diagnosed(page, "healthy")
    await expect(page.locator(".versions-ran")).to_contain_text("with torch 2.")
    await page.click("text=This is wrong")
    await expect(page.locator("#wrong")).to_contain_text("deleted together with the result")
    await page.fill("#wrong-text", "It never trains the encoder.")
    await page.get_by_role("button", name="Send the report").click()
    await expect(page.locator("#wrong [role=status]")).to_contain_text("Thank you.")


async def test_the_form_is_empty_after_a_result(page: Page) -> None:
    await write(page, LSTM.script)
    await page.fill("#traceback", LSTM.traceback)
    await page.click("button.primary")
    await settled(page)
    await page.get_by_text("Diagnose another script").click()
    await expect(page.locator("#script")).to_have_value("")
    await expect(page.locator("#traceback")).to_have_value("")
    await expect(page.locator("#filename")).to_have_value("")
    await expect(page.locator("#restored")).to_be_hidden()


async def test_a_preview_reports_the_headline(visit: Visit) -> None:
    page = await result_of(visit, "lstm")
    await page.reload()  # as those who make previews find the page
    title = await page.locator("meta[property='og:title']").get_attribute("content")
    assert title == await page.locator("h1").inner_text()


# `time.sleep` returns at once in the sandbox. A fix is not waited for.
WAITS = """\
import threading

if ".de" "tach(" not in open(__file__).read():
    threading.Event().wait(3)
"""
SLOW = WAITS + LSTM.script


async def test_work_that_is_cancelled_leaves_nothing(page: Page) -> None:
    await write(page, SLOW)
    await page.click("button.primary")
    await expect(page.locator("#stage")).to_have_text("Running the script")
    address = page.url
    await page.get_by_role("button", name="Cancel and delete").click()
    await expect(page.locator("h1")).to_have_text("Deleted")
    answer = await page.goto(address)
    assert answer is not None
    assert answer.status == 404


async def test_progress_is_shown_while_it_works(page: Page) -> None:
    await write(page, SLOW)
    await page.click("button.primary")
    await expect(page.locator("#stage")).to_have_text("Running the script")
    await expect(page.locator("table.listing")).to_contain_text("import torch")
    await expect(page.locator("#elapsed")).to_contain_text("s")
    # behind another test's work it waits for a place first
    await expect(page.locator("#steps")).to_contain_text("Reading the script")
    await keep(page, "working")
    await page.wait_for_selector("#share")
    await expect(page.locator(".badge")).to_have_text(re.compile("^Reproduced and fixed"))
