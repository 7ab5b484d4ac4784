"""The details by which the tracer and static analysis distinguish kinds of silent faults."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from analyzers.explain import bootstrap_targets
from analyzers.patterns import missing_zero_grad

DETAILS = Path(__file__).parents[2] / "sandbox" / "inside/detectors/details.py"
SAID = {
    node.targets[0].id: node.value.value
    for node in ast.parse(DETAILS.read_text()).body
    if isinstance(node, ast.Assign)
    and isinstance(node.targets[0], ast.Name)
    and isinstance(node.value, ast.Constant)
}
READ = {
    "CROSSED": bootstrap_targets.CROSSED,
    "OTHERS": bootstrap_targets.OTHERS,
    "WEIGHS": bootstrap_targets.WEIGHS,
    "CLIMBED": missing_zero_grad.CLIMBED,
    "FOREIGN": missing_zero_grad.FOREIGN,
    "PILED": missing_zero_grad.PILED,
    "TAKEN": missing_zero_grad.TAKEN,
    "UNTOUCHED": missing_zero_grad.UNTOUCHED,
}


@pytest.mark.parametrize("name", READ)
def test_both_sides_say_the_same(name: str) -> None:
    assert SAID[name] == READ[name]
