"""What reading and explaining cost grows with the script, and no faster."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from statistics import median

import pytest

from analyzers.evidence import Evidence
from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.project import Project
from tests.case_files import Case, load_cases

CASES = [c for c in load_cases() if not c.notebook and not c.files]
MIXED = sorted(CASES, key=lambda c: sha256(c.name.encode()).digest())  # a new case shifts few
TIMES = 4
OF_TWO_ARMS = """
import sys

if given(sys.argv):
    rate = 0.1
else:
    rate = 0.2
"""


def calls(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls: a measure like time, but always the same."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def joined(cases: list[Case], before: str = "") -> Project:
    return Project({"train.py": before + "".join(case.stripped for case in cases)}, "train.py")


def parts(count: int) -> list[list[Case]]:
    return [MIXED[i * count : (i + 1) * count] for i in range(TIMES)]


def test_reading_a_long_script_costs_what_its_parts_cost() -> None:
    """All are read a second time, for the other arm: else the mixture decides which are sliced."""
    alone = sum(calls(lambda part=part: read(joined(part, OF_TWO_ARMS))) for part in parts(20))  # type: ignore[misc]
    whole = joined(MIXED[: 20 * TIMES], OF_TWO_ARMS)
    together = calls(lambda: read(whole))
    assert together < 1.1 * alone


def test_reading_calls_few_functions_for_a_node() -> None:
    costs = []
    for case in MIXED[: 6 * TIMES]:
        one = joined([case])
        nodes = sum(1 for _ in ast.walk(one.parsed["train.py"].tree))
        costs.append(calls(lambda one=one: read(one)) / nodes)  # type: ignore[misc]
    assert median(costs) < 36  # loops over long rows cost some cases ten times as much


@pytest.mark.rotating(4)
def test_explaining_in_a_long_script_costs_as_much_more_as_it_is_longer() -> None:
    once = longer = 0
    for start in (0, 40, 60):  # some of them have names in common with what stands behind them
        evidence = read(joined(MIXED[start : start + 20])).evidence
        assert len(evidence) >= 4
        once += explaining(MIXED[start : start + 20], evidence)
        longer += explaining(MIXED[start : start + 20 * TIMES], evidence)
    assert longer < 1.2 * TIMES * once  # 0.93 to 1.1 with other mixtures of the same cases


def explaining(cases: list[Case], evidence: Sequence[Evidence]) -> int:
    """What explaining calls the second time, whatever other tests have left in caches."""
    classify(joined(cases), evidence)
    again = joined(cases)
    return calls(lambda: classify(again, evidence))
