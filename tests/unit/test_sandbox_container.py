"""What is taken away between two runs in a container, and when nothing more may run there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.container.cleanup import empty
from sandbox.container.guest import doubt_about
from sandbox.watch.outcome import ProcessOutcome

DEEP = 3000  # its path would be longer than the kernel takes, and Python would not recurse so far


def test_a_tree_of_any_shape_goes_and_nothing_else(tmp_path: Path) -> None:
    scratch, outside = tmp_path / "scratch", tmp_path / "outside"
    for directory in (scratch / "closed" / "within", outside):
        directory.mkdir(parents=True)
    (outside / "kept").write_text("kept")
    for place in (scratch, scratch / "closed", scratch / "closed" / "within"):
        (place / "to a file").symlink_to(outside / "kept")
        (place / "to a directory").symlink_to(outside)
        (place / "to nothing").symlink_to("nowhere")
        os.mkfifo(place / "fifo")
        os.mkdir(os.fsencode(place) + b"/\xff\n")
        (place / "many").mkdir()
        for number in range(300):
            (place / "many" / str(number)).touch()
    (scratch / "closed" / "within").chmod(0)
    (scratch / "closed").chmod(0)
    empty(str(scratch))
    assert list(scratch.iterdir()) == []
    assert (outside / "kept").read_text() == "kept"


def test_depth_is_no_hindrance(tmp_path: Path) -> None:
    home = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(DEEP):
            os.mkdir("deeper")
            os.chdir("deeper")
    finally:
        os.chdir(home)
    empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["timed_out", "limit_hit", "cancelled", "unavailable"])
def test_a_run_that_was_ended_leaves_a_doubt(ending: str) -> None:
    assert doubt_about(ProcessOutcome(ending, walls=["landlock"]))  # type: ignore[arg-type]


def test_without_landlock_a_run_leaves_a_doubt() -> None:
    assert doubt_about(ProcessOutcome("exited", exit_code=0, walls=["seccomp"]))
    assert doubt_about(ProcessOutcome("exited", exit_code=1, walls=["seccomp", "landlock"])) is None
