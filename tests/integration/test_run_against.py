"""`gradmend run --against REV`: two versions with the user's own data, in a git repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.repository import GitRepository
from tests.run_wrapper import Ran, gradmend

pytestmark = pytest.mark.rotating

TRAIN = """\
import json
import sys

import torch
from torch import nn

from net import build

rows = [[float(v) for v in line.split(",")] for line in open("rows.csv")]
settings = json.load(open("settings.json"))
data = torch.tensor(rows)
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=settings["lr"])
for epoch in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(data[:, :2]), data[:, 2:])
    loss.backward()
    optimizer.step()
    torch.save(model.state_dict(), "model.pt")
    with open("log.txt", "a") as log:
        log.write(f"{loss.item()}\\n")
"""
NET = """\
from torch import nn


def build():
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
"""


@pytest.fixture
def project(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "proj")
    files = {"train.py": TRAIN, "net.py": NET, "settings.json": '{"lr": 0.1}\n'}
    made.commit("start", {**files, ".gitignore": "*.csv\n.cache/\n"})
    made.write({"rows.csv": "0.1,0.2,0.3\n0.4,0.1,0.9\n0.7,0.3,0.2\n"})
    return made


def compared(project: GitRepository, *words: str) -> Ran:
    command = ["run", "--against", *words, "--", sys.executable, "train.py", "30"]
    return gradmend(command, project.folder)


def test_a_change_in_a_module_is_named_and_nothing_is_written(project: GitRepository) -> None:
    project.write({"net.py": NET.replace("Tanh", "ReLU")})
    ran = compared(project, "HEAD", "--json", "--steps", "5")
    assert ran.code == 1, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["verdict"], found["witness"]["step"]) == ("changed", 1)
    assert any("your own data" in note for note in found["notes"])
    assert not {"model.pt", "log.txt"} & {path.name for path in project.folder.iterdir()}


def test_a_refactoring_is_the_same(project: GitRepository) -> None:
    project.write(
        {
            "net.py": NET.replace("return nn.Sequential", "layers = nn.Sequential")
            + "    return layers\n"
        }
    )
    ran = compared(project, "HEAD", "--steps", "4")
    assert ran.code == 0, ran.stdout + ran.stderr
    assert "Same training" in ran.stdout


def test_settings_of_the_revision_are_read_by_its_version(project: GitRepository) -> None:
    project.commit("faster", {"settings.json": '{"lr": 0.3}\n'})
    ran = compared(project, "HEAD~1", "--steps", "4")
    assert ran.code == 1, ran.stdout + ran.stderr
    same = compared(project, "HEAD", "--steps", "4")
    assert same.code == 0, same.stdout + same.stderr
    assert "Nothing was run" in same.stdout


def test_what_cannot_be_compared_says_why(project: GitRepository) -> None:
    ran = compared(project, "v9")
    assert (ran.code, "git knows no such revision" in ran.stderr) == (64, True), ran.stderr
    none = gradmend(
        ["run", "--against", "HEAD", "--", sys.executable, "-c", "print(1)"], project.folder
    )
    assert none.code == 64
    assert "imported torch" in none.stderr
