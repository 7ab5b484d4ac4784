"""A script runs on the torch that its request chooses, among those of a service."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.environment import SCRIPTS_PYTHON
from tests.serving import serving

SCRIPT = """\
import sys
import torch
assert "older" in sys.prefix, "another interpreter"
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(4, 2)).square().mean().backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a further environment: the packages of this one below another prefix."""
    folder = tmp_path_factory.mktemp("environments") / "older"
    folder.symlink_to(SCRIPTS_PYTHON.parents[1])
    return folder / "bin" / "python"


@pytest.mark.rotating
async def test_a_request_chooses_the_torch_that_its_script_runs_on(
    tmp_path: Path, older: Path
) -> None:
    further = f"1.13={older}"
    async with serving(tmp_path, None, sandbox="jail", torch_sandboxes=further) as http:
        assert (await http.get("/readyz", timeout=90)).json()["torches"] == ["1.13"]
        chosen = await http.post(
            "/v1/diagnoses?wait=60", json={"script": SCRIPT, "torch": "1.13"}, timeout=90
        )
        own = await http.post("/v1/diagnoses?wait=60", json={"script": SCRIPT}, timeout=90)
        change = {"before": SCRIPT, "after": SCRIPT.replace("mean", "sum"), "torch": "1.13"}
        verified = await http.post("/v1/verifications?wait=60", json=change, timeout=90)
    assert chosen.json()["verdict"] == "healthy", chosen.text
    assert "another interpreter" in own.text
    assert verified.json()["verdict"] == "changed", verified.text


async def test_a_version_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, older: Path
) -> None:
    async with serving(tmp_path, sandbox="jail", torch_sandboxes=f"1.13={older}") as http:
        refused = await http.post("/v1/diagnoses", json={"script": SCRIPT, "torch": "2.0"})
        form = await http.get("/")
        sent = await http.post("/", data={"script": SCRIPT, "torch": "1.13"})
        again = await http.get("/", params={"from": sent.headers["location"].rpartition("/")[2]})
    assert refused.status_code == 422
    (problem,) = refused.json()["errors"]
    assert problem["field"] == "torch"
    assert problem["message"].startswith("2.0 is not installed here; this service has ")
    assert "1.13" in problem["message"]
    assert "<option>1.13</option>" in form.text
    assert "<option selected>1.13</option>" in again.text


@pytest.mark.rotating
def test_the_command_runs_a_script_with_another_interpreter(tmp_path: Path, older: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "gradmend", str(script), "--torch"]
    found = subprocess.run([*command, str(older)], capture_output=True, text=True, timeout=90)
    assert (found.returncode, found.stdout) == (0, "1 script run: no faults found.\n"), found.stderr


@pytest.mark.parametrize(
    ("interpreter", "problem"),
    [
        ("nowhere/python", "is not an interpreter such as env/bin/python."),
        ("/bin/ls", "is no Python interpreter."),
    ],
)
def test_what_cannot_run_a_script_is_refused_at_once(
    tmp_path: Path, interpreter: str, problem: str
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "gradmend", "train.py", "--torch", interpreter]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert found.returncode == 64
    assert problem in found.stderr


def test_an_interpreter_without_torch_is_refused_with_what_it_lacks(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    venv.create(bare, symlinks=True)
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "gradmend", "train.py", "--torch", str(bare / "bin/python")]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert found.returncode == 64
    assert "lacks torch, numpy, pydantic; install it there." in found.stderr
