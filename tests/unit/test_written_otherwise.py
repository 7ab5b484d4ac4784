"""Cases rewritten without changing what they do are diagnosed by reading as they are."""

import pytest

from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.project import Project
from benchmarks.rewritings import rewritten
from tests.case_files import Case, load_cases

WRITTEN = {
    "globals as attributes": (
        "recurrent_state/learnt_smoothing_speeds",
        "shared_subgraph/objectives_as_records",
        "shared_subgraph/terms_of_a_simulation",
        "undetached_target/ppo_old_log_probs",
    ),
    "a temporary for each assignment": (
        "derived_outside_loop/codebook_before_its_batches",
        "recurrent_state/learnt_smoothing_speeds",
    ),
    "helpers extracted": (
        "stored_graph/adaptive_scale",
        "stored_graph/running_statistic",
        "accumulated_loss/tracker_of_losses",
    ),
    "other aliases of imports": ("derived_outside_loop/bayesian_kl_per_epoch",),
}


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.name: case for case in load_cases()}


@pytest.mark.parametrize(
    ("way", "name"), [(way, name) for way, names in WRITTEN.items() for name in names]
)
def test_the_cause_is_found_all_the_same(way: str, name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    text = rewritten(case.stripped, way)
    assert text is not None
    project = Project({"train.py": text})
    causes = classify(project, read(project).evidence)
    assert causes, text
    assert causes[0].pattern in (case.pattern, *case.also)
