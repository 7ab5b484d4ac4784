"""The form: what is dropped, typed and kept, and what it says about mistakes."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from app.pages.examples import examples
from tests.browser.pages import Visit, keep, settled, write

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating(4)]
GAN = next(example for example in examples() if example.name == "gan")
FIXED = re.compile("^Reproduced and fixed")
LSTM = next(example for example in examples() if example.name == "lstm")
DROP = """(files) => {
  const box = new DataTransfer();
  for (const [name, text] of files) box.items.add(new File([text], name));
  const event = { dataTransfer: box, bubbles: true, cancelable: true };
  document.getElementById("diagnose").dispatchEvent(new DragEvent("drop", event));
}"""


async def drop(page: Page, files: dict[str, str]) -> None:
    await page.evaluate(DROP, list(files.items()))


@pytest.mark.rotating(1)  # what a user does, each time
async def test_a_dropped_script_and_log_fill_their_fields(page: Page) -> None:
    await drop(page, {"charlm.py": LSTM.script, "run.log": LSTM.traceback})
    await expect(page.locator("#script")).to_have_value(LSTM.script)
    await expect(page.locator("#traceback")).to_have_value(LSTM.traceback)
    await expect(page.locator("#filename")).to_have_value("charlm.py")
    await expect(page.locator("#attached")).to_contain_text("charlm.py is the script")
    await keep(page, "form-filled")


async def test_a_dropped_notebook_is_diagnosed_as_one_script(page: Page) -> None:
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": []}
    notebook = {
        "cells": [{**cell, "source": LSTM.script.splitlines(keepends=True)}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    await drop(page, {"charlm.ipynb": json.dumps(notebook)})
    await expect(page.locator("#filename")).to_have_value("charlm.ipynb")
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text(FIXED)
    shown = page.locator("table.listing").first
    await expect(shown).to_contain_text("hidden = model(chars, hidden)")
    await expect(shown.locator("caption")).to_have_text("charlm.ipynb")
    await expect(shown.locator("tr.cell").first).to_have_text("Cell 1")
    await expect(page.locator("text=git apply")).to_have_count(0)
    await keep(page, "notebook")


async def test_of_several_files_the_one_that_walks_is_the_script(page: Page) -> None:
    head, _, rest = LSTM.script.partition("class CharModel")
    model, _, train = rest.partition("def batches")
    imports = "import torch\nfrom torch import nn\n\n\n"
    files = {
        "model.py": f"{imports}class CharModel{model}",
        "train.py": f"{head}from model import CharModel\n\n\ndef batches{train}",
    }
    await drop(page, files)
    await expect(page.locator("#attached")).to_contain_text("attached: model.py")
    await page.keyboard.press("Control+Enter")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text(FIXED)
    await expect(page.locator("table.listing caption")).to_contain_text(["train.py", "model.py"])


async def test_the_editor_colours_indents_and_marks_the_failing_line(page: Page) -> None:
    await write(page, LSTM.script)
    await page.fill("#traceback", LSTM.traceback)
    editor = page.locator(".cm-editor")
    await editor.locator(".cm-line").first.click()
    await page.keyboard.press("Control+End")
    await expect(editor.locator(".cm-failing")).to_have_text("    loss.backward()")
    keyword = editor.get_by_text("for", exact=True).first
    plain = editor.locator(".cm-failing").first
    colour = "element => getComputedStyle(element).color"
    assert await keyword.evaluate(colour) != await plain.evaluate(colour)
    await page.keyboard.press("Tab")
    await page.keyboard.type("x = 1")
    await expect(page.locator("#script")).to_have_value(f"{LSTM.script}    x = 1")
    await keep(page, "form-editor")


async def test_diagnose_is_in_sight(page: Page) -> None:
    await page.set_viewport_size({"width": 1440, "height": 900})
    box = await page.locator("button.primary").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900


HEAD, _, REST = LSTM.script.partition("class CharModel")
MODEL, _, TRAIN = REST.partition("def batches")
PROJECT = {
    "charlm/models/__init__.py": "",
    "charlm/models/net.py": f"import torch\nfrom torch import nn\n\n\nclass CharModel{MODEL}",
    "charlm/train.py": f"{HEAD}from models.net import CharModel\n\n\ndef batches{TRAIN}",
    "charlm/.git/config": "[core]\n",
}


async def test_a_folder_keeps_its_paths(page: Page, tmp_path: Path) -> None:
    for path, text in PROJECT.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    await page.set_input_files("#folder", tmp_path / "charlm")
    await expect(page.locator("#filename")).to_have_value("train.py")
    await expect(page.locator("#attached")).to_contain_text("models/net.py")
    await expect(page.locator("#attached")).not_to_contain_text(".git")
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text(FIXED)
    captions = page.locator("section.fix").first.locator("table.listing caption")
    await expect(captions).to_contain_text(["train.py", "models/net.py"])


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "without"])
async def test_a_zip_is_a_folder(visit: Visit, tmp_path: Path, scripts: bool) -> None:
    page = await visit.open("/", scripts=scripts)
    with zipfile.ZipFile(tmp_path / "charlm.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in PROJECT.items():
            archive.writestr(path, text)
    await page.set_input_files("#files", tmp_path / "charlm.zip")
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text(FIXED)
    captions = page.locator("section.fix").first.locator("table.listing caption")
    await expect(captions).to_contain_text(["train.py", "models/net.py"])


async def test_the_text_survives_a_reload(page: Page) -> None:
    await write(page, "import torch\n")
    await page.fill("#traceback", "RuntimeError: half a traceback")
    await page.reload()
    await expect(page.locator("#script")).to_have_value("import torch\n")
    await expect(page.locator("#traceback")).to_have_value("RuntimeError: half a traceback")
    await expect(page.locator("#restored")).to_contain_text("Your last text is back.")
    await page.click("#clear")
    await expect(page.locator("#script")).to_have_value("")
    await page.reload()
    await expect(page.locator("#script")).to_have_value("")


async def test_another_text_is_another_file(page: Page) -> None:
    await write(page, "import torch\nfirst = 1\n")
    await page.fill("#filename", "lesson.ipynb")
    await write(page, "import torch\nfirst = 1\nsecond = 2\n")
    await expect(page.locator("#filename")).to_have_value("lesson.ipynb")
    await write(page, "from torch import nn\nother = 3\n")
    await expect(page.locator("#filename")).to_have_value("")


async def test_a_traceback_of_another_script_is_noticed(page: Page) -> None:
    await page.fill("#traceback", LSTM.traceback)
    await expect(page.locator("#mismatch")).to_be_hidden()
    await write(page, "import torch\n")
    await expect(page.locator("#mismatch")).to_be_visible()
    await write(page, LSTM.script)
    await expect(page.locator("#mismatch")).to_be_hidden()


@pytest.mark.rotating(1)  # what a user does, each time
async def test_an_empty_form_is_asked_for_a_script(page: Page) -> None:
    await page.click("button.primary")
    await expect(page.get_by_role("alert")).to_have_text("Paste a script or a traceback first.")
    await keep(page, "form-refused")


async def test_the_text_survives_a_mistake(page: Page) -> None:
    await write(page, "\nimport torch\n")
    await page.click("summary")
    await page.fill("#filename", "/etc/train.py")
    await page.click("button.primary")
    await expect(page.get_by_role("alert")).to_contain_text("/etc/train.py")
    await expect(page.locator("#script")).to_have_value("\nimport torch\n")
    await expect(page.locator("#filename")).to_have_value("/etc/train.py")


async def test_a_traceback_alone_says_what_the_script_would_add(page: Page) -> None:
    await page.fill("#traceback", LSTM.traceback)
    await page.keyboard.press("Control+Enter")
    await settled(page)
    await expect(page.get_by_role("link", name="Add it and run again")).to_be_visible()
    await keep(page, "traceback-alone")


ASKS = """\
import sys
import torch

rows = [float(line) for line in open("rows.csv")]
w = torch.ones(len(rows), requires_grad=True)
loss = (w * torch.tensor(rows)).square().sum() * float(sys.argv[1])
for step in range(3):
    loss.backward()
"""


async def test_what_was_sent_can_be_edited_and_run_again(page: Page, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("1\n2\n3\n")
    await write(page, ASKS)
    await page.fill("#args", "0.5")
    await page.set_input_files("#files", tmp_path / "rows.csv")
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text(FIXED)
    await page.get_by_role("link", name="Edit and run again").first.click()
    await expect(page.locator("#script")).to_have_value(ASKS)
    await expect(page.locator("#args")).to_have_value("0.5")
    await expect(page.locator("#attached")).to_contain_text("rows.csv")
    await write(page, ASKS.replace("range(3)", "range(1)"))
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text("Healthy")


OWN_DATA = """\
import torch
from torch import nn

xs = torch.tensor([float(line) for line in open("prices.csv")]).reshape(-1, 1, 4)
gru, head = nn.GRU(4, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*gru.parameters(), *head.parameters()], lr=0.1)
memory = torch.zeros(1, 1, 8)
for x in xs:
    out, memory = gru(x[None], memory)
    loss = head(out).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_records_of_a_run_next_to_own_data(page: Page, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OWN_DATA)
    (tmp_path / "prices.csv").write_text("1\n2\n3\n4\n" * 6)
    await page.click("summary")
    tracer = await page.request.get("/gradmend_trace.py")
    (tmp_path / "gradmend_trace.py").write_text(await tracer.text())
    command = [sys.executable, "gradmend_trace.py", "train.py"]
    run = await asyncio.to_thread(
        subprocess.run, command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "a second time" in run.stderr
    await write(page, OWN_DATA)
    await page.set_input_files("#trace", tmp_path / "gradmend-trace.jsonl")
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text("Seen in your run; fix not tested")
    await expect(page.locator("table.listing").first).to_contain_text(
        "out, memory = gru(x[None], memory)"
    )
    await expect(page.locator("section", has=page.locator("#sure"))).to_contain_text("your own run")
    await keep(page, "own-data")


async def test_only_reading_runs_nothing(page: Page) -> None:
    await write(page, LSTM.script)
    await page.click("summary")
    await page.check("#read_only")
    await page.click("button.primary")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text("Probable: not run")
    await expect(page.locator("section", has=page.locator("#sure"))).to_contain_text(
        "Nothing was run"
    )


@pytest.mark.rotating(1)  # what a user does, each time
async def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = await visit.open("/")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(40):
        await page.keyboard.press("Escape")  # in the editor, Tab would indent
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.value") == "healthy":
            break
    await page.keyboard.press("Enter")
    await settled(page)
    await expect(page.locator(".badge")).to_have_text("Healthy")
