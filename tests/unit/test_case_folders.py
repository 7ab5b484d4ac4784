"""`python -m tests.corpus`: cases as files that run, and back into their sheet."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.case_files import ROOT, load_case
from tests.corpus.__main__ import main

SHEETS = ("inplace_leaf", "detached_loss", "notebook_rerun")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of some sheets, to change."""
    root = tmp_path / "cases"
    root.mkdir()
    for name in SHEETS:
        shutil.copy(ROOT / f"{name}.md", root)
    return root


@pytest.mark.parametrize(
    "name",
    [
        "inplace_leaf/manual_sgd",
        "inplace_leaf/ok_manual_sgd_no_grad",
        "detached_loss/losses_module",
        "notebook_rerun/toy_gan",
    ],
)
def test_a_case_that_is_taken_out_and_put_back_stays_as_it_was(
    name: str, root: Path, tmp_path: Path
) -> None:
    before = {path.name: path.read_text() for path in root.iterdir()}
    folder = tmp_path / "out"
    assert main(["extract", name, "--to", str(folder)], root) == 0
    case = load_case(name)
    for variant in (*case.fixed, *case.wrong):
        assert (folder / variant.name / case.entry).read_text() == variant.text
    assert main(["store", name, "--from", str(folder)], root) == 0
    assert {path.name: path.read_text() for path in root.iterdir()} == before


@pytest.mark.rotating(4)
def test_an_extracted_script_runs(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert main(["extract", "detached_loss/losses_module", "--to", str(folder)], root) == 0
    for program, code in (("case", 1), ("fixed", 0)):
        command = [sys.executable, str(folder / program / "train.py")]
        assert subprocess.run(command, capture_output=True).returncode == code


def test_a_changed_case_and_a_new_one_are_stored(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    main(["extract", "inplace_leaf/manual_sgd", "--to", str(folder)], root)
    before = load_case("inplace_leaf/manual_sgd")
    script = folder / "case" / "manual_sgd.py"
    script.write_text(f"# first\n{script.read_text()}")
    (folder / "wrong_9").mkdir()
    (folder / "wrong_9" / "manual_sgd.py").write_text("print()\n")
    assert main(["store", "inplace_leaf/manual_sgd", "--from", str(folder)], root) == 0
    after = load_case("inplace_leaf/manual_sgd", root)
    assert after.stripped == f"# first\n{before.stripped}"
    assert [place.line for place in after.places] == [place.line + 1 for place in before.places]
    assert after.fixed[0].text == before.fixed[0].text
    assert (after.wrong[-1].name, after.wrong[-1].text) == ("wrong_9", "print()\n")
    assert main(["store", "new_pattern/another", "--from", str(folder)], root) == 0
    new = load_case("new_pattern/another", root)
    assert (new.entry, new.pattern) == ("manual_sgd.py", "inplace-leaf")


def test_cases_are_listed_and_shown(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "manual_sgd"], root) == 0
    assert "inplace_leaf/ok_manual_sgd_no_grad" in capsys.readouterr().out
    assert main(["show", "inplace_leaf/manual_sgd"], root) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("## manual_sgd\n")
    assert shown in (ROOT / "inplace_leaf.md").read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["show", "inplace_leaf/nothing"], "no case is named 'inplace_leaf/nothing'"),
        (["show", "../secret"], "'../secret' is no name of a case"),
        (["extract", "inplace_leaf/manual_sgd", "--to", "HERE"], "holds something already"),
        (["store", "inplace_leaf/new", "--from", "HERE"], "holds no script"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], complaint: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(root) if word == "HERE" else word for word in words], root) == 1
    assert complaint in capsys.readouterr().err


def test_a_repair_that_changes_nothing_is_refused(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    main(["extract", "inplace_leaf/manual_sgd", "--to", str(folder)], root)
    shutil.copytree(folder / "case", folder / "fixed", dirs_exist_ok=True)
    assert main(["store", "inplace_leaf/manual_sgd", "--from", str(folder)], root) == 1
    assert "changes nothing" in capsys.readouterr().err
