"""The built wheel in a fresh environment, next to torch alone; and the guide's commands in it."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from pathlib import Path

import pytest

from tests.installed import build_wheel, fresh
from tests.run_wrapper import ROOT, Ran, call

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.rotating,
]  # commands run again, several times each
GUIDE = ROOT / "docs/own-data.md"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    return fresh(tmp_path_factory.mktemp("fresh"), wheel)


def run(programs: Path, words: str, home: Path) -> Ran:
    """A command line of a user who has that environment."""
    return call(shlex.split(words), home, PATH=f"{programs}:/usr/bin:/bin")


def test_the_wheel_adds_one_name(wheel: Path) -> None:
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"gradmend"}


def test_a_users_own_names_are_never_hidden(programs: Path, tmp_path: Path) -> None:
    for name in ("app", "sandbox", "analyzers", "provenance", "types", "command"):
        (tmp_path / f"{name}.py").write_text(f"print('the user's own {name}')".replace("'s", ""))
    (tmp_path / "train.py").write_text(
        "import app, sandbox, analyzers, provenance, command, torch, gradmend\n"
    )
    expected = "".join(
        f"the user own {n}\n" for n in ("app", "sandbox", "analyzers", "provenance", "command")
    )
    ran = run(programs, "gradmend run -- python train.py", tmp_path)
    assert (ran.code, ran.stdout) == (0, expected)
    assert "gradmend" not in ran.stderr.replace("NumPy", "").partition("UserWarning")[0]
    (tmp_path / "types.py").unlink()  # no `python -m` starts next to it, whatever it names
    assert run(programs, "python -m gradmend run --help", tmp_path).code == 0


def test_words_that_need_the_server_say_so(programs: Path, tmp_path: Path) -> None:
    ran = run(programs, "gradmend serve", tmp_path)
    assert ran.code == 1
    assert "pip install 'gradmend[server]" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_environment_without_torch(
    wheel: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    programs = fresh(tmp_path_factory.mktemp("bare"), wheel, torch=False)
    (tmp_path / "train.py").write_text("import torch\n")
    ran = run(programs, "gradmend run -- python train.py", tmp_path)
    assert ran.code == 1
    assert "ModuleNotFoundError: No module named 'torch'" in ran.stderr
    assert "no Python of this command imported torch" in ran.stderr


def test_every_command_of_the_guide(programs: Path, tmp_path: Path) -> None:
    """In their order, in one folder that holds what the guide shows."""
    text = GUIDE.read_text()
    shown = re.findall(r"`(\S+\.py)`:\n\n```python\n(.*?)```", text, re.DOTALL)
    assert [name for name, _ in shown] == ["train.py", "models/net.py"]
    for name, code in shown:
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(code)
    (tmp_path / "rows.csv").write_text("1,2,3,4\n0.5,0.1,0.2,0.3\n")
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    commands = [line for line in lines if line.startswith(("gradmend ", "python -m gradmend "))]
    assert len(commands) >= 6
    mended = False
    for line in commands:
        ran = run(programs, line, tmp_path)
        expected = 1 if " -- " in line and not mended else 0
        assert ran.code == expected, (line, ran.stderr)
        assert "Traceback" not in ran.stderr.partition("── gradmend")[2], (line, ran.stderr)
        if "--json" in line:
            assert json.loads(ran.stdout.splitlines()[-1])["verdict"] == "confirmed"
        if mended:  # the guide goes on with the example as it was
            for name, code in shown:
                (tmp_path / name).write_text(code)
        mended = line == "gradmend apply"
