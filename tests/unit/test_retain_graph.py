"""What is said of `retain_graph=True`: that it hides the fault, unless it is the fix."""

from __future__ import annotations

from typing import get_args

import pytest

from app.present.retain_graph import advice
from app.schema_types import Family, Verified
from app.schemas import ErrorReport, Findings, Verification
from tests.patches import patch_of

KEPT = "-    loss.backward()\n+    loss.backward(retain_graph=True)\n"
FREED = "-    loss.backward(retain_graph=True)\n+    loss.backward()\n"


def said(diff: str, status: Verified = "passed", family: Family = "graph-reuse") -> str:
    patch = patch_of(gradients="same", verification=Verification(status=status))
    error = ErrorReport(family=family, exception="RuntimeError", message="")
    found = Findings(error=error, patches=[patch.model_copy(update={"diff": diff})])
    shown = advice(found)
    return shown.question if shown is not None else ""


def test_a_fix_that_keeps_the_graph_is_not_said_to_hide_the_fault() -> None:
    assert said(KEPT).startswith("Why is")
    assert said(FREED).startswith("Why not")
    assert said(KEPT, "failed").startswith("Why not")


@pytest.mark.parametrize("family", [one for one in get_args(Family) if one != "graph-reuse"])
def test_only_the_message_that_advises_it_brings_it_up(family: Family) -> None:
    assert said(KEPT, family=family) == ""
