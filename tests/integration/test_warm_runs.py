"""Runs forked from a warm interpreter: what a program finds there, and how it ends, is as in one
that was started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradmend.run_wrapper.exchange_dir import ExchangeDir, Process
from gradmend.run_wrapper.starting import BROKEN, Warm, can_be_warm, end, furnish, start_fresh
from sandbox.inside.attached.warm import module_name

pytestmark = [pytest.mark.timeout(900), pytest.mark.rotating]
PYTHON = sys.executable
FACTS = """\
import atexit, json, os, signal, sys, tempfile, threading, time
asked = sys.argv[1:]
from torch.utils.data import DataLoader
import torch
import helper
main = sys.modules["__main__"]
atexit.register(print, "at exit")
torch.ones(3, requires_grad=True).sum().backward()
print(json.dumps({
    "argv": sys.argv, "cwd": os.getcwd(), "path": sys.path, "file": __file__, "name": __name__,
    "spec": __spec__ and __spec__.name, "package": __package__, "loader": type(__loader__).__name__,
    "main": main.__dict__ is globals(), "helper": helper.__file__, "given": os.environ["GIVEN"],
    "input": sys.stdin.read(), "seed": torch.initial_seed(), "torch": torch.__spec__.name,
    "whole": all(name in sys.modules for name in ("torch", "torch.nn", "torch.utils.data")),
    "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "pipe": str(signal.getsignal(signal.SIGPIPE)), "leads": os.getsid(0) == os.getpid(),
    "threads": threading.active_count(), "temporary": os.path.basename(tempfile.gettempdir()),
    "draws": len(list(DataLoader([1, 2, 3]))),
}))
threading.Thread(target=lambda: (time.sleep(0.2), print("in a thread"))).start()
how = open("how.txt").read()
if how == "raise":
    raise KeyError("as asked")
if how == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "wait":
    signal.signal(signal.SIGTERM, lambda *_: (print("terminated"), os._exit(7)))
    print("waiting")
    time.sleep(300)
sys.exit(int(how))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "package").mkdir()
    for name in ("facts.py", "package/facts.py"):
        (tmp_path / name).write_text(FACTS)
    (tmp_path / "helper.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIVEN", "by the user")
    return tmp_path


@pytest.fixture
def home() -> Iterator[ExchangeDir]:
    box = ExchangeDir({})
    yield box
    box.close()


def process(command: list[str], **more: Any) -> Process:
    """What a run of the command would have reported of itself."""
    files = {path.name: str(path.resolve()) for path in Path.cwd().rglob("*.py")}
    reported = {"files": files, "parent": os.getpid(), **more}
    return Process(pid=0, words=tuple(command), **reported)


def asked(home: ExchangeDir, how: str) -> ExchangeDir:
    """The box of a run that is to end so."""
    Path("how.txt").write_text(how)
    box = ExchangeDir({}, home.path)
    furnish(box, {"mode": "plain"})
    return box


async def ran(
    home: ExchangeDir, how: str, warm: Warm | None, command: list[str]
) -> tuple[int, str, str]:
    """One run, to its end: its exit code and what it wrote."""
    box = asked(home, how)
    run = start_fresh(box.path, command) if warm is None else await warm.run(box.path)
    assert run is not None
    code = await asyncio.wait_for(run.wait(), 300)
    return code, (box.path / "out").read_text(), (box.path / "err").read_text()


@pytest.mark.parametrize("start", [["facts.py"], ["-m", "package.facts"]], ids=["script", "module"])
async def test_a_program_finds_what_it_finds_when_restarted(
    project: Path, home: ExchangeDir, start: list[str]
) -> None:
    command = [PYTHON, *start, "--lr", "1e-3"]
    warm = await Warm(home, command, process(command)).ready()
    assert warm is not None
    try:
        forked, fresh = [await ran(home, "3", each, command) for each in (warm, None)]
        reported, others = [json.loads(each[1].splitlines()[0]) for each in (forked, fresh)]
        assert reported.pop("seed") != others.pop("seed")
        assert reported == others
        for code, out, err in (forked, fresh):
            assert (code, out.splitlines()[1:], err) == (3, ["in a thread", "at exit"], "")
    finally:
        await warm.close()


async def test_runs_end_as_they_do_again(project: Path, home: ExchangeDir) -> None:
    command = [PYTHON, "facts.py"]
    warm = await Warm(home, command, process(command)).ready()
    assert warm is not None
    try:
        code, out, err = await ran(home, "raise", warm, command)
        assert (code, out.splitlines()[-1]) == (1, "at exit")
        assert err.endswith("KeyError: 'as asked'\n")
        assert "warm.py" not in err
        assert (await ran(home, "killed", warm, command))[0] == -signal.SIGKILL
        box = asked(home, "wait")
        run = await warm.run(box.path)
        assert run is not None
        await _until_it_says(box, "waiting")
        await end(run)
        assert await run.wait() == 7
        assert "terminated" in (box.path / "out").read_text()
        assert (await ran(home, "0", warm, command))[0] == 0
    finally:
        await warm.close()


async def test_two_runs_go_on_at_once(project: Path, home: ExchangeDir) -> None:
    command = [PYTHON, "facts.py"]
    warm = await Warm(home, command, process(command)).ready()
    assert warm is not None
    try:
        box = asked(home, "wait")
        waiting = await warm.run(box.path)
        assert waiting is not None
        await _until_it_says(box, "waiting")
        assert (await ran(home, "3", warm, command))[0] == 3
        assert not waiting.ended.done()
        await end(waiting)
        assert await waiting.wait() == 7
    finally:
        await warm.close()


async def test_a_run_ends_with_its_parent(project: Path, home: ExchangeDir) -> None:
    command = [PYTHON, "facts.py"]
    warm = await Warm(home, command, process(command)).ready()
    assert warm is not None
    try:
        box = asked(home, "wait")
        run = await warm.run(box.path)
        assert run is not None
        await _until_it_says(box, "waiting")
        os.kill(warm._process.pid, signal.SIGKILL)
        assert await asyncio.wait_for(run.wait(), 60) == BROKEN
        assert await _gone(run.pid)
        assert await warm.run(box.path) is None
    finally:
        await warm.close()


async def test_what_is_not_begun_warm(project: Path, home: ExchangeDir) -> None:
    command = [PYTHON, "facts.py"]
    first = process(command)
    assert can_be_warm(first)
    assert not can_be_warm(process(command, cuda=True))
    assert not can_be_warm(process(command, parent=1))
    (project / "random.py").write_text("")  # torch has imported another one by then
    assert await Warm(home, command, process(command)).ready() is None


async def _until_it_says(box: ExchangeDir, what: str) -> None:
    out = box.path / "out"  # made as the run begins
    for _ in range(3000):
        if out.exists() and what in out.read_text():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"it never said {what!r}")


async def _gone(pid: int) -> bool:
    for _ in range(300):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.1)
    return False


@pytest.mark.parametrize(("name", "is_forked"), [("tqdm", True), ("numpy", False)])
async def test_a_program_gets_its_own_module_of_a_name_that_torch_uses(
    project: Path, home: ExchangeDir, name: str, is_forked: bool
) -> None:
    (project / f"{name}.py").write_text("mine = True")
    (project / "facts.py").write_text(f"import torch\nimport {name}\nprint({name}.mine)")
    command = [PYTHON, "facts.py"]
    warm = await Warm(home, command, process(command)).ready()
    assert (warm is not None) == is_forked
    if warm is not None:
        try:
            assert await ran(home, "", warm, command) == (0, "True\n", "")
        finally:
            await warm.close()


def test_a_module_within_a_package_takes_no_name_of_the_standard_library(tmp_path: Path) -> None:
    package = tmp_path / "vendor" / "logging"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    assert module_name(str(package / "__init__.py")) == ""
    assert module_name(str(package.parent / "types.py")) == ""
    assert module_name(str(package.parent / "__init__.py")) == "vendor"
    assert module_name(str(tmp_path / "types.py")) == "types"
