"""Torch as it was: the engine entered by its own method, tensors' own type under another name (both
up to 2.2), saved tensors not shown (2.3).

Those versions were tried by hand; here the tracer is made to see today's torch as one of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from sandbox.collect import read_trace
from sandbox.records import Trace
from tests.run_wrapper import ROOT

OLDER = """\
import builtins, sys, torch
base = torch._C.TensorBase
del torch._C.TensorBase
from sandbox.inside import main
from sandbox.inside.core import engine
from sandbox.inside.errors import inplace
from sandbox.inside.recorders import updates
torch._C.TensorBase = base  # today's torch looks for it in anomaly mode
engine.ONE_ENTRY = False
inplace.hasattr = lambda value, name: name != "data" and builtins.hasattr(value, name)
sys.exit(main.main(["job.json", "--records", "records"]))
"""


def traced(script: str, home: Path, mode: str = "trace") -> Trace:
    job = {"files": {"train.py": dedent(script)}, "entry": "train.py", "mode": mode}
    (home / "job.json").write_text(json.dumps(job))
    command = [sys.executable, "-c", OLDER]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=home, env=environment, capture_output=True, timeout=200)
    trace, doubts = read_trace((home / "records").read_bytes())
    assert doubts == []
    assert trace.ended is not None
    assert trace.ended.truncated == []
    return trace


def test_a_second_walk(tmp_path: Path) -> None:
    trace = traced(
        """
        import torch
        w = torch.ones(2, requires_grad=True)
        h = (w * w).sum()
        h.backward()
        (h * w.sum()).backward()
        """,
        tmp_path,
    )
    assert [record.outcome for record in trace.backwards] == ["ok", "raised"]
    assert trace.reuse is not None
    assert trace.reuse.stale_edges[0].holders[0].path == "h"


def test_a_change_of_a_value_without_a_name(tmp_path: Path) -> None:
    trace = traced(
        """
        import torch
        w = torch.ones(2, requires_grad=True)

        def squashed(x):
            hidden = torch.sigmoid(x * w)
            hidden += 1
            return hidden * 2

        squashed(torch.ones(2)).sum().backward()
        """,
        tmp_path,
        "inplace",
    )
    assert trace.inplace is not None
    assert trace.inplace.node is not None
    assert trace.inplace.node.op == "SigmoidBackward0"
    assert [change.at.line for change in trace.inplace.changes if change.at] == [7]
