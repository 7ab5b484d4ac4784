"""The command line, as typed: what it prints, what it changes, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.case_files import load_case
from tests.processes import COMMAND

pytestmark = [pytest.mark.rotating, pytest.mark.usefixtures("warm")]

FAILING = load_case("recurrent_state/char_lm").stripped
RERUN = load_case("notebook_rerun/one_step_at_a_time").stripped
HEALTHY = load_case("recurrent_state/ok_detached_each_batch").stripped
PROJECT = {
    "rows.csv": "0.5,0.25\n" * 8,
    "src/nets/__init__.py": "",
    "src/nets/memory.py": """\
import torch
from torch import nn

class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(1, 4)
        self.head = nn.Linear(4, 1)
        self.state = torch.zeros(1, 4)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.head(self.state)
""",
    "scripts/train.py": """\
import argparse
import torch
from nets.memory import Memory

parser = argparse.ArgumentParser()
parser.add_argument("--rows", required=True)
rows = [line.split(",") for line in open(parser.parse_args().rows)]
net = Memory()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in rows:
    loss = (net(torch.tensor([[float(x)]])) - float(y)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
}


def gradmend(directory: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "diagnose", *arguments],
        cwd=directory,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=200,
    )


def test_found_fixed_and_then_healthy(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    found = gradmend(tmp_path, "train.py", "-v", "--fix")
    assert found.returncode == 0, found.stderr
    for reported in (
        "Reproduced and fixed",
        "GM011 recurrent-state",
        "--- a/train.py",
        "✓ error gone",
    ):
        assert reported in found.stdout
    assert "1 script run: 1 fault found, 1 fixed." in found.stdout
    assert "Changed train.py; this fix truncates the gradients." in found.stderr
    assert script.read_text() != FAILING
    assert "written to train.py" in found.stdout
    again = gradmend(tmp_path, "train.py")
    assert (again.returncode, again.stdout) == (0, "1 script run: no faults found.\n")


def test_what_was_fixed_is_not_offered_again(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    finding, summary = gradmend(tmp_path, "train.py", "--fix").stdout.splitlines()
    assert " GM011 fixed: `" in finding
    assert summary == "1 script run: 1 fault found, 1 fixed."
    (tmp_path / "train.py").write_text(FAILING)
    shown = gradmend(tmp_path, "train.py", "--diff")
    assert shown.stdout.startswith("--- a/train.py")
    assert shown.stderr == "Fix 1 is safe; this fix truncates the gradients.\n"


def test_a_patch_is_applied_to_a_notebook(tmp_path: Path) -> None:
    script = tmp_path / "train.ipynb"
    script.write_text(RERUN)
    found = gradmend(tmp_path, "train.ipynb", "--apply")
    assert found.returncode == 0, found.stderr
    assert "Changed train.ipynb" in found.stderr
    before, after = json.loads(RERUN), json.loads(script.read_text())
    changed = [
        a["source"] != b["source"] for a, b in zip(before["cells"], after["cells"], strict=True)
    ]
    assert changed == [False, False, False, True, True]
    assert [
        a | {"source": b["source"]} for a, b in zip(before["cells"], after["cells"], strict=True)
    ] == after["cells"]


def test_json_is_the_findings(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY)
    done = gradmend(tmp_path, "train.py", "--json")
    assert [each["verdict"] for each in json.loads(done.stdout)] == ["healthy"]
    assert done.returncode == 0


def test_line_ends_survive_an_applied_patch(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(FAILING.replace("\n", "\r\n").encode())
    gradmend(tmp_path, "train.py", "--apply")
    patched = script.read_bytes()
    assert patched != FAILING.replace("\n", "\r\n").encode()
    assert patched.count(b"\n") == patched.count(b"\r\n")


def test_reading_only_from_standard_input(tmp_path: Path) -> None:
    done = gradmend(tmp_path, "-", "--run", "never", "--json", stdin=FAILING)
    (findings,) = json.loads(done.stdout)
    assert findings["verdict"] in ("likely", "inconclusive")
    assert done.returncode == (1 if findings["verdict"] == "likely" else 2)
    assert [patch["verification"]["status"] for patch in findings["patches"]] == ["not_run"] * len(
        findings["patches"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.py"], "missing.py: no such file"),
        (["."], "calls `backward()`; name the script"),
        (["--nothing"], "No such option: --nothing"),
        (["-m", "pkg.train"], "no module pkg.train here"),
        (["ok.py", "--time-limit", "90"], "90.0 is not in the range 1<=x<=60"),
        (["ok.py", "--time-limit", "-3"], "-3.0 is not in the range 1<=x<=60"),
        (["ok.py", "--fix=0"], "0 is not in the range x>=1"),
        ([], "name a script, a folder, or `-`"),
        (["ok.py", "--traceback", "missing.txt"], "missing.txt: no such file"),
        (["ok.py", "--file", "/etc/hostname"], "outside the project's directory"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "ok.py").write_text("x = 1\n")
    done = gradmend(tmp_path, *arguments)
    assert done.returncode == 64
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_one_file_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    (tmp_path / "declared.py").write_bytes(b"# coding: latin-1\n# caf\xe9\n")
    (tmp_path / "__init__.py").write_text("\n")
    (tmp_path / "bad.py").write_text(FAILING)
    hook = ("--run", "never", "--lenient")
    done = gradmend(tmp_path, "latin.py", "__init__.py", "declared.py", "bad.py", *hook)
    why = "is not UTF-8 text: byte 0xe9 in line 1; save it as UTF-8."
    assert done.stderr == f"gradmend: latin.py {why}\n"
    finding, summary = done.stdout.splitlines()
    assert finding.startswith("bad.py:")
    assert summary == "3 scripts read, 1 not read: 1 fault found."
    assert done.returncode == 1
    alone, lenient = gradmend(tmp_path, "latin.py"), gradmend(tmp_path, "latin.py", *hook)
    assert (alone.returncode, lenient.returncode) == (2, 0)
    missing = gradmend(tmp_path, "nowhere.py", "bad.py", "--run", "never")
    assert "nowhere.py: no such file" in missing.stderr
    assert missing.stdout.startswith("bad.py:")


def test_an_empty_file_is_clean(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    done = gradmend(tmp_path, "__init__.py")
    assert (done.returncode, done.stdout) == (0, "1 script read: no faults found.\n")


def test_standard_input_is_named_as_its_neighbours_name_it(tmp_path: Path) -> None:
    done = gradmend(tmp_path, "-", "--run", "never", stdin=FAILING)
    assert done.stdout.startswith("-:")
    named = gradmend(tmp_path, "-", "--stdin-filename", "a/b.py", "--run", "never", stdin=FAILING)
    assert named.stdout.startswith("a/b.py:")


def test_a_project_is_followed_started_and_fixed(tmp_path: Path) -> None:
    for path, text in PROJECT.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    done = gradmend(tmp_path, "scripts/train.py", "--fix", "--", "--rows", "rows.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": Changed " in done.stderr
    plain = [sys.executable, "scripts/train.py", "--rows", "rows.csv"]
    again = subprocess.run(plain, cwd=tmp_path, env={**os.environ, "PYTHONPATH": "src"})
    assert again.returncode == 0


def test_several_scripts_are_reported_each(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(FAILING)
    (tmp_path / "good.py").write_text(HEALTHY)
    done = gradmend(tmp_path, ".", "--run", "never", "--format", "json")
    assert done.returncode == 1
    verdicts = {each["path"]: each["verdict"] for each in json.loads(done.stdout)}
    assert verdicts == {"bad.py": "likely", "good.py": "inconclusive"}


def test_a_fix_is_shown_or_chosen_by_its_number(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    shown = gradmend(tmp_path, "train.py", "--run", "never", "--diff", "--fix=2")
    assert shown.stdout.startswith("--- a/train.py\n+++ b/train.py\n@@")
    assert shown.stderr.startswith("Fix 2 is ")
    assert shown.stderr.endswith("; this fix was not tested.\n")
    untested = gradmend(tmp_path, "train.py", "--run", "never", "--fix")
    assert "--fix=1 --unsafe-fixes takes one that was not tested" in untested.stderr
    none = gradmend(tmp_path, "train.py", "--run", "never", "--diff")
    assert (none.stdout, "No diff: no fix passed its checks" in none.stderr) == ("", True)
    many = gradmend(tmp_path, "train.py", "--run", "never", "--fix=40")
    assert (many.returncode, "40 is not one of them" in many.stderr) == (64, True)
    level = gradmend(tmp_path, "train.py", "--run", "never", "--fix=2")
    assert "Nothing was changed" in level.stderr
    assert script.read_text() == FAILING
    chosen = gradmend(tmp_path, "train.py", "--run", "never", "--fix=2", "--unsafe-fixes")
    assert (chosen.returncode, "not tested" in chosen.stderr) == (1, True)
    assert script.read_text() != FAILING
