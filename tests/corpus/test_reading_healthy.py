"""Reading alone blames no healthy script."""

from __future__ import annotations

from analyzers.notebooks.notebook import to_project
from analyzers.reading import read
from analyzers.source.project import Project
from tests.case_files import Case
from tests.corpus.listing import HEALTHY, each


@each(HEALTHY)
def test_nothing_is_predicted(case: Case) -> None:
    script = to_project(case.stripped)[0] if case.notebook else case.stripped
    assert read(Project({**case.files, "train.py": script})).evidence == ()
