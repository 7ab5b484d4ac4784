"""Reading alone blames no healthy script."""

from __future__ import annotations

import pytest

from analyzers.notebooks.notebook import to_project
from analyzers.reading import read
from analyzers.source import Project
from tests.case_files import Case, load_cases

HEALTHY = [case for case in load_cases() if case.healthy]


@pytest.mark.parametrize("case", HEALTHY, ids=lambda case: case.name)
def test_nothing_is_predicted(case: Case) -> None:
    notebook = case.path.suffix == ".ipynb"
    script = to_project(case.stripped)[0] if notebook else case.stripped
    assert read(Project({**case.files, "train.py": script})).evidence == ()
