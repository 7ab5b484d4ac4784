"""`gradmend run` around commands as users type them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.case_files import load_case
from tests.run_wrapper import ONE_FILE, call, gradmend

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.rotating,
]  # commands run again, several times each
PYTHON = sys.executable
TRAIN = """\
import argparse
import torch
from models.net import Net
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
rows = [[float(v) for v in line.split(",")] for line in open(parser.parse_args().data)]
torch.manual_seed(0)
net, h = Net(), None
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    out, h = net(torch.tensor(rows), h)
    optimizer.zero_grad()
    out.square().mean().backward()
    optimizer.step()
    print("step", step)
    torch.save(net.state_dict(), "net.pt")
    with open("log.txt", "a") as log:
        print(step, file=log)
"""
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x, h):
        if h is None:
            h = torch.zeros(x.size(0), 8)
        h = self.cell(x, h)
        return self.out(h), h
"""
HEALTHY = """\
import torch
w = torch.ones(2, requires_grad=True)
for _ in range(4):
    (w * w).sum().backward()
print("done")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "models/net.py").write_text(NET)
    (tmp_path / "rows.csv").write_text("1,2,3,4\n0.5,0.1,0.2,0.3\n")
    return tmp_path


@pytest.mark.rotating(1)  # what a user does, each time
def test_a_project_is_fixed_next_to_its_own_data(project: Path) -> None:
    ran = gradmend(["run", "--patient", "--", PYTHON, "train.py", "--data", "rows.csv"], project)
    assert ran.code == 1
    assert ran.stdout == "step 0\n"
    assert "second time" in ran.stderr
    assert "sandbox/inside" not in ran.stderr  # nobody sees the tracer in his traceback
    assert "train.py:11  GM011 `h`: A recurrent state still holds" in ran.stderr
    assert "h = h.detach()" in ran.stderr
    assert "✓ your command ran again with it: no error in 6 backward calls" in ran.stderr
    assert "\nTrying " in ran.stderr  # a line for each step where nobody watches
    assert "\npasses so far: " in ran.stderr
    assert "commit" not in ran.stderr  # there is no repository
    assert (project / "train.py").read_text() == TRAIN
    assert (project / "log.txt").read_text() == "0\n"  # of the first run alone
    shown = gradmend(["show", "2"], project)
    assert shown.code == 0
    assert "error gone" in shown.stderr
    applied = gradmend(["apply"], project)
    assert "changed train.py" in applied.stderr
    assert call([PYTHON, "train.py", "--data", "rows.csv"], project).code == 0
    assert "has changed since the run" in gradmend(["apply"], project).stderr


def test_nothing_is_run_again_where_it_is_not_wanted(project: Path) -> None:
    ran = gradmend(
        ["run", "--no-rerun", "--json", "--", PYTHON, "train.py", "--data", "rows.csv"], project
    )
    assert ran.code == 1
    assert ran.findings.causes[0].carrier is not None
    assert ran.findings.causes[0].carrier.name == "h"
    assert {patch.verification.status for patch in ran.findings.patches} == {"not_run"}
    assert "not tested" in ran.stderr


def test_a_healthy_command_hears_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY)
    ran = gradmend(["run", "--", PYTHON, "train.py"], tmp_path)
    assert (ran.code, ran.stdout, ran.stderr) == (0, "done\n", "")
    assert os.listdir(tmp_path) == ["train.py"]


def test_what_turns_out_to_be_meant_is_not_reported(tmp_path: Path) -> None:
    """Gradients that are never cleared, and are read as what they are."""
    healthy = load_case("missing_zero_grad/ok_sensitivity_by_hand")
    (tmp_path / "train.py").write_text(healthy.stripped)
    ran = gradmend(["run", "--check", "--strict", "--", PYTHON, "train.py"], tmp_path)
    assert ran.code == 0
    assert ran.stderr.startswith("gradmend: checked ")
    assert ran.stderr.count("\n") == 1


def test_a_check_that_finds_nothing_says_what_it_looked_at(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "net, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\n"
        "optimizers = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (net, head)]\n"
        "for _ in range(100):\n"
        "    head(net(torch.ones(3, 2))).square().mean().backward()\n"
        "    for optimizer in optimizers:\n"
        "        optimizer.step()\n"
        "        optimizer.zero_grad()\n"
    )
    said = (
        "checked 28 of 100 backward calls: every parameter of both optimizers gets a gradient, "
        "graphs stay level, no fault was found"
    )
    command = ["run", "--check", "--format", "json", "--", PYTHON, "train.py"]
    ran = gradmend(command, tmp_path)
    assert (ran.code, ran.stderr) == (0, f"gradmend: {said}\n")
    assert ran.findings.summary == said
    (tmp_path / "none.py").write_text("import torch\n")
    ran = gradmend(["run", "--check", "--", PYTHON, "none.py"], tmp_path)
    assert ran.stderr == "gradmend: checked nothing: no backward call was made\n"


@pytest.mark.parametrize(
    "command",
    [
        ["./train.py"],
        [PYTHON, "-m", "package.train"],
        ["sh", "-c", f"{PYTHON} train.py; exit $?"],
        [PYTHON, "-m", "torch.distributed.run", "--nproc_per_node=1", "train.py"],
        [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py::test_step"],
    ],
    ids=["shebang", "module", "shell", "torchrun", "pytest"],
)
def test_commands_of_every_kind(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "train.py").write_text(f"#!{PYTHON}\n{ONE_FILE}")
    (tmp_path / "train.py").chmod(0o755)
    (tmp_path / "package/train.py").write_text(ONE_FILE)
    body = ONE_FILE.replace("\n", "\n    ").rstrip()
    (tmp_path / "test_it.py").write_text(f"def test_step():\n    {body}\n")
    plain = call(command, tmp_path)
    ran = gradmend(["run", "--patient", "--", *command], tmp_path)
    assert plain.code == ran.code != 0
    assert "✓ your command ran again with it" in ran.stderr, ran.stderr


def test_silent_faults_are_reported_when_asked_for(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "net, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)\n"
        "for _ in range(12):\n"
        "    optimizer.zero_grad()\n"
        "    hidden = net(torch.ones(3, 2)).detach()\n"
        "    other(hidden).square().mean().backward()\n"
        "    optimizer.step()\n"
    )
    command = [PYTHON, "train.py"]
    assert gradmend(["run", "--", *command], tmp_path).stderr == ""
    ran = gradmend(["run", "--check", "--patient", "--", *command], tmp_path)
    assert ran.code == 0
    assert "train.py:6" in ran.stderr
    strict = ["run", "--check", "--strict", "--no-rerun", "--", *command]
    assert gradmend(strict, tmp_path).code == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 64, "which command?"),
        (["--steps", "many", "--", "true"], 64, "a whole number"),
        (["--format", "xml", "--", "true"], 64, "json or text"),
        (["--fast", "--", "true"], 64, "--fast is no option"),
        (["--strict", "--", "true"], 64, "--strict is for --check"),
        (["--", "no-such-command"], 127, "no-such-command: no such command"),
        (["--", "train.py"], 127, "write: gradmend run -- python train.py"),
        (["--", "sh", "-c", "exit 3"], 3, "no Python of this command imported torch"),
        (["--", PYTHON, "early.py"], 1, "failed before its first backward call"),
        (["--", PYTHON, "other.py"], 1, "not with an error of autograd"),
    ],
)
def test_what_cannot_be_diagnosed_is_said(
    tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    (tmp_path / "early.py").write_text("import torch\ntorch.ones(2) @ torch.ones(3)\n")
    (tmp_path / "other.py").write_text(f"{HEALTHY}raise KeyError(1)\n")
    ran = gradmend(["run", *words], tmp_path)
    assert ran.code == code
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr.partition("gradmend:")[2]


def test_help_writes_nothing(project: Path) -> None:
    gradmend(["run", "--no-rerun", "--", PYTHON, "train.py", "--data", "rows.csv"], project)
    kept = {path: path.read_bytes() for path in (project / ".cache").rglob("*.json")}
    assert kept
    assert "usage: gradmend run" in gradmend(["run", "--help"], project).stdout
    assert gradmend(["run", "--", PYTHON, "train.py", "--help"], project).code == 0
    assert {path: path.read_bytes() for path in (project / ".cache").rglob("*.json")} == kept
