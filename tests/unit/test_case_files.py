"""The loader hands out every case once, with its expectations read and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_files import Case, Place, load_case, load_cases, strip

CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_stripping_keeps_every_line_number(case: Case) -> None:
    sources = [case.stripped, *case.files.values()]
    assert not any("# expect:" in source for source in sources)
    if case.path.suffix == ".py":
        assert case.stripped.count("\n") == case.path.read_text().count("\n")


def test_names_are_unique_and_repairs_are_not_cases() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert not any(".fixed" in name or ".wrong" in name for name in names)


def test_every_answer_is_read(tmp_path: Path) -> None:
    path = tmp_path / "gru.py"
    path.write_text(
        "# expect: pattern = recurrent-state\n"
        "# expect: also = stored-graph, accumulated-loss\n"
        "# expect: raises = RuntimeError: Trying\n"
        "# expect: carrier = h, self.h\n"
        "import torch\n"
        "h = model(h)  # expect: place\n"
    )
    for variant in ("gru.fixed.py", "gru.fixed_2.py", "gru.wrong_1.py", "gru_other.fixed.py"):
        (tmp_path / variant).write_text("")
    case = load_case(path)
    assert (case.pattern, case.engine) == ("recurrent-state", "torch")
    assert case.also == ("stored-graph", "accumulated-loss")
    assert case.raises == "RuntimeError: Trying"
    assert case.carriers == ("h", "self.h")
    assert case.places == (Place("gru.py", 6),)
    assert [fixed.name for fixed in case.fixed] == ["gru.fixed.py", "gru.fixed_2.py"]
    assert [wrong.name for wrong in case.wrong] == ["gru.wrong_1.py"]
    assert case.stripped == "\n\n\n\nimport torch\nh = model(h)\n"


def test_a_directory_case_keeps_its_modules(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text("import model\n")
    (tmp_path / "project" / "model.py").write_text("h = step(h)  # expect: place\n")
    case = load_case(tmp_path / "project")
    assert case.path.name == "train.py"
    assert case.files == {"model.py": "h = step(h)\n"}
    assert case.places == (Place("model.py", 1),)
    assert strip(case.path) == "import model\n"
