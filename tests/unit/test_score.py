"""The scorer of anybody's repairs: right ones count, others do not, and names have to be right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.score import main, path_of
from tests.case_files import Case, Variant, load_case

ONE, SEVERAL = load_case("inplace_leaf/manual_sgd"), load_case("detached_loss/losses_module")
NOTEBOOK = load_case("notebook_rerun/toy_gan")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some failing scripts, as `--write` leaves them."""
    for case in (ONE, SEVERAL, NOTEBOOK):
        assert main([str(tmp_path / "given"), "--write", "--only", case.name]) == 0
    return tmp_path / "given"


def repair(folder: Path, case: Case, variant: Variant) -> None:
    for name, text in variant.texts.items():
        (folder / path_of(case) / name if case.files else folder / path_of(case)).write_text(text)


def test_scripts_are_written_as_they_fail(folder: Path) -> None:
    files = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.*")}
    assert files == {
        "inplace_leaf/manual_sgd.py": ONE.stripped,
        "notebook_rerun/toy_gan.ipynb": NOTEBOOK.stripped,
        **{f"detached_loss/losses_module/{name}": text for name, text in SEVERAL.texts.items()},
    }


def test_right_repairs_count_and_others_do_not(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repair(folder, ONE, ONE.fixed[0])
    repair(folder, SEVERAL, SEVERAL.wrong[0])
    out = tmp_path / "out.json"
    assert main([str(folder), "--partial", "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["cases"][ONE.name] == {
        "pattern": "inplace-leaf",
        "result": "right",
        "objections": [],
    }
    assert found["cases"][SEVERAL.name]["result"] == "differs"
    assert found["cases"][SEVERAL.name]["objections"]
    assert found["cases"][NOTEBOOK.name]["result"] == "unchanged"
    results = [one["result"] for one in found["cases"].values()]
    assert results.count("missing") == len(results) - 3 > 300
    assert found["patterns"]["all"]["right"] == found["patterns"]["inplace-leaf"]["right"] == 1
    row = next(line for line in capsys.readouterr().out.splitlines() if "| all |" in line)
    assert row == f"| all | {len(results)} | 1 | 0 | 1 | 1 | {len(results) - 3} | 0% |"


def test_a_script_that_raises_does_not_count(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / path_of(ONE)).write_text("raise ValueError\n")
    assert main([str(folder), "--only", ONE.name]) == 0
    assert "| inplace-leaf | 1 | 0 | 1 | 0 | 0 | 0 | 0% |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        (
            "inplace_leaf/manual_sdg.py",
            "is inplace_leaf/manual_sdg.py meant for inplace_leaf/manual",
        ),
        ("inplace_leaf/ok_manual_sgd_no_grad.py", "name no failing case: inplace_leaf/ok_manual"),
        ("detached_loss/losses_module/other.py", "name no failing case: detached_loss/losses_mod"),
        ("detached_loss/losses_module.py", "name no failing case: detached_loss/losses_module.py"),
        ("manual_sgd.py", "such as recurrent_state/char_lm.py"),
    ],
)
def test_a_file_that_names_no_case_is_refused(
    file: str, complaint: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / file).write_text("print()\n")
    assert main([str(folder), "--only", ONE.name]) == 2
    assert complaint in capsys.readouterr().err


def test_cases_that_are_missing_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / path_of(ONE)).unlink()
    assert main([str(folder), "--only", ONE.name]) == 2
    assert "1 of 1 failing cases are not in" in capsys.readouterr().err
    assert main([str(folder), "--write", "--only", SEVERAL.name]) == 2
    assert "is there already" in capsys.readouterr().err
    (folder / path_of(SEVERAL) / "train.py").write_bytes(b"\xff")
    assert main([str(folder), "--only", SEVERAL.name]) == 2
