"""`gradmend verify --server`: a service that runs already compares, and nothing else changes."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.serving import listening
from tests.verified import CHANGED, HEALTHY, REFACTORED

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.rotating]
TIMINGS = re.compile(r'"(read|queue|reproduce|verify|total)": [\d.]+')
SCALED = f"from scale import SCALE\n{HEALTHY}".replace("lr=0.1", "lr=0.1 * SCALE")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A service with its real sandbox."""
    folder = tmp_path_factory.mktemp("service")
    async with listening(folder, None, sandbox="jail") as address:
        yield address


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Versions of a script; one of them in a folder, with a module of its own."""
    for path, text in {
        "old/train.py": SCALED,
        "old/scale.py": "SCALE = 1\n",
        "new/train.py": SCALED,
        "train.py": HEALTHY,
        "changed.py": CHANGED,
        "refactored.py": REFACTORED,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


async def ran(folder: Path, *words: str, **variables: str) -> tuple[int | None, str, str]:
    """The exit code of a command, what it printed, and what it said on the side."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gradmend", "verify", *words),
        cwd=folder,
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, said = await process.communicate()
    return process.returncode, TIMINGS.sub("", printed.decode()), said.decode()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("train.py", "refactored.py"), 0),
        (("train.py", "changed.py", "--format", "json", "--steps", "4"), 1),
        (("old/train.py", "new/train.py"), 1),
    ],
    ids=["renamed", "changed", "removed"],
)
async def test_verdicts_and_exit_codes_are_the_same(
    project: Path, address: str, words: tuple[str, ...], code: int
) -> None:
    there = await ran(project, *words, "--server", address)
    alone = await ran(project, *words)
    assert there[:2] == alone[:2]
    assert (there[0], there[2]) == (code, f"Asking {address}.\n")


async def test_the_server_of_the_environment_or_the_project_is_asked(
    project: Path, address: str
) -> None:
    words = ("train.py", "refactored.py")
    asked = await ran(project, *words, GRADMEND_SERVER=address)
    (project / "pyproject.toml").write_text(f'[tool.gradmend]\nserver = "{address}"\n')
    again = await ran(project, *words)
    assert asked == again
    assert (asked[0], asked[2]) == (0, f"Asking {address}.\n")


async def test_a_server_that_does_not_answer_is_said(project: Path) -> None:
    words = ("train.py", "changed.py", "--server", "http://127.0.0.1:9")
    code, printed, said = await ran(project, *words)
    assert (code, printed) == (2, "")
    assert "No Gradmend server answers at http://127.0.0.1:9" in said
    assert "Traceback" not in said


async def test_what_a_server_refuses_is_said(project: Path) -> None:
    words = ("train.py", "changed.py", "--server")
    async with listening(project / "var", None, api_keys="sesame") as closed:
        code, printed, said = await ran(project, *words, closed)
    assert (code, printed, "Send an API key" in said) == (64, "", True)


async def test_a_server_that_runs_nothing_compares_nothing(project: Path) -> None:
    words = ("train.py", "changed.py", "--server")
    async with listening(project / "var", None) as reading:
        code, printed, _ = await ran(project, *words, reading)
    assert (code, "Not comparable" in printed) == (2, True)
