"""What is attached wins over text in the box that has nothing to do with it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.serving import serving

OLD = "import torch\nprint('of another time')\n"
TRAIN = "from nets import Net\nloss = Net()\nloss.backward()\n"
NETS = "class Net: ...\n"
CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1}
NOTEBOOK = json.dumps(
    {"cells": [{**CELL, "source": "x = 1"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
)


def zipped(**files: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.py", text)
    return held.getvalue()


async def sent(http: httpx.AsyncClient, script: str, name: str, data: bytes, **fields: str) -> str:
    """What was diagnosed: its file name and script."""
    fields |= {"script": script, "traceback": ""}
    answer = await http.post("/", data=fields, files={"files": (name, data)})
    assert answer.status_code == 303, answer.text
    address = f"/v1/diagnoses/{answer.headers['location'].rpartition('/')[2]}"
    await http.get(f"{address}/events")  # which ends with the result
    return str((await http.get(address)).json()["summary"])


@pytest.mark.parametrize(
    ("script", "name", "data", "reported"),
    [
        (OLD, "project.zip", zipped(train=TRAIN, nets=NETS), f"train.py: {TRAIN}"),
        (TRAIN, "project.zip", zipped(main=TRAIN, nets=NETS), f"train.py: {TRAIN}"),
        ("import nets\nx = 2\n", "p.zip", zipped(main=TRAIN, nets=NETS), "train.py: import nets"),
        (OLD, "lesson.ipynb", NOTEBOOK.encode(), f"lesson.ipynb: {NOTEBOOK}"),
        (OLD, "rows.py", b"rows = [1]\n", f"train.py: {OLD}"),
    ],
    ids=["a project", "the script is in it", "its module is imported", "a notebook", "a module"],
)
async def test_what_is_attached_wins_over_old_text(
    tmp_path: Path, script: str, name: str, data: bytes, reported: str
) -> None:
    async with serving(tmp_path) as http:
        assert (await sent(http, script, name, data)).startswith(reported)


async def test_a_notebook_s_name_does_not_stay_with_another_script(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        said = await sent(http, OLD, "rows.txt", b"1\n", filename="lesson.ipynb")
        assert said == f"train.py: {OLD}"
