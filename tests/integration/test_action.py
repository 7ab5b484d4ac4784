"""The GitHub Action: its shell steps, run as a workflow's runner would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml
from sarif_pydantic import Sarif  # type: ignore[import-untyped]

from tests.case_files import load_case

pytestmark = pytest.mark.rotating

REPOSITORY = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text())
FAILING = load_case("recurrent_state/char_lm").stripped
_INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")


def step(number: int, directory: Path, python: Path, **inputs: str) -> Any:
    """Run one step with these inputs, in a directory that takes the place of the checkout."""
    given = {name: about["default"] for name, about in ACTION["inputs"].items()} | inputs
    reported = ACTION["runs"]["steps"][number]
    values = {
        name: _INPUT.sub(lambda m: given[m[1]], text) for name, text in reported["env"].items()
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", reported["run"]],
        cwd=directory,
        env={
            **os.environ,
            **values,
            "PATH": f"{python.parent}:{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(REPOSITORY),
            # What the wheel needs is here already.
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
        },
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that the action's first step has installed Gradmend into."""
    home = tmp_path_factory.mktemp("runner")
    venv.create(home / "env", with_pip=True)
    python = home / "env" / "bin" / "python"
    here = "\n".join(path for path in sys.path if path.endswith("site-packages"))
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.check_output(asked, text=True).strip())
    (site / "dependencies.pth").write_text(f"{here}\n")
    installed = step(0, home, python)
    assert installed.returncode == 0, installed.stderr
    assert (site / "gradmend").is_dir()
    return python


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "my scripts").mkdir()
    (tmp_path / "my scripts" / "train.py").write_text(FAILING)
    (tmp_path / "fine.py").write_text("print('nothing to do with torch')\n")
    return tmp_path


def test_faults_are_annotated_and_fail_the_job(python: Path, checkout: Path) -> None:
    done = step(1, checkout, python)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning file=my scripts/train.py,line=")
    assert step(1, checkout, python, fail="false").returncode == 0


def test_a_clean_script_passes(python: Path, checkout: Path) -> None:
    done = step(1, checkout, python, paths="fine.py\n")
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_sarif_is_written_for_code_scanning(python: Path, checkout: Path) -> None:
    step(1, checkout, python, sarif="out.sarif", fail="false")
    run = Sarif.model_validate_json((checkout / "out.sarif").read_text(), strict=False).runs[0]
    result = (run.results or [])[0]
    assert result.locations[0].physical_location.artifact_location.uri == "my%20scripts/train.py"


def test_a_path_is_no_command(python: Path, checkout: Path) -> None:
    done = step(1, checkout, python, paths="$(touch${IFS}hacked) `touch hacked`")
    assert done.returncode == 64
    assert not (checkout / "hacked").exists()
