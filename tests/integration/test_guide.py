"""The commands of the user guide do what it says, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.pages.examples import examples
from tests.browser.running import ROOT, running_service
from tests.processes import COMMAND

pytestmark = [pytest.mark.rotating, pytest.mark.usefixtures("warm")]

LSTM = next(example for example in examples() if example.name == "lstm")
COMMANDS = [
    line
    for block in re.findall(r"(?s)```sh\n(.*?)```", (ROOT / "docs" / "guide.md").read_text())
    for line in block.strip().split("\n")
]
LIGHTNING = """\
import lightning as L
import torch
from torch import nn


class Tagger(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(8, 16, batch_first=True), nn.Linear(16, 1)
        self.state = None

    def training_step(self, batch, batch_idx):
        x, y = batch
        out, self.state = self.rnn(x, self.state)
        return nn.functional.mse_loss(self.head(out), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""


@pytest.fixture(scope="module")
def service(warm: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with its real sandbox."""
    with running_service(tmp_path_factory.mktemp("service")) as url:
        yield url


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Everything that the guide speaks of."""
    head, _, rest = LSTM.script.partition("class CharModel")
    model, _, train = rest.partition("def batches")
    fit = f"{head}from models.net import CharModel\n\n\ndef batches{train}"
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": []}
    cells = [{**cell, "source": LSTM.script.splitlines(keepends=True)}]
    files = {
        "train.py": LSTM.script,
        "tb.txt": LSTM.traceback,
        "project/train.py": fit,
        "project/models/__init__.py": "",
        "project/models/fit.py": fit,
        "project/models/net.py": f"import torch\nfrom torch import nn\n\n\nclass CharModel{model}",
        "lesson.ipynb": json.dumps(
            {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        ),
        "lightning_module.py": LIGHTNING,
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide_finds_the_fault(command: str, service: str, home: Path) -> None:
    places = f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command.replace("http://127.0.0.1:8000", service)],
        cwd=home,
        env={**os.environ, "PATH": places, "GRADMEND_VAR_DIR": str(home), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr
    written = (home / "gradmend.sarif").read_text() if "sarif" in command else ""
    reported = done.stdout + done.stderr + written
    assert "hidden" in reported or "self.state" in reported, reported
    if "--fix" in command:
        assert "detach" in _code(home / command.split()[1])


def _code(path: Path) -> str:
    if path.suffix == ".py":
        return path.read_text()
    return "".join(json.loads(path.read_text())["cells"][0]["source"])
