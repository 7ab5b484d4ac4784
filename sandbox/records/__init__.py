"""Define the records that a traced run emits, one JSON object a line, as the host reads them.

They come from a hostile process: every field is bounded and validated here, and nothing in them is
trusted beyond what it says about the script itself. Lines are 1-based; files are relative to the
job's directory; library files keep their module path (`torch/nn/modules/rnn.py`).
"""

from sandbox.records.base import NOT_FINITE, LazyModel, Number, Record
from sandbox.records.carried import Path
from sandbox.records.faults import Inplace, Missing, Reuse, Silent
from sandbox.records.harness import Assumed, HarnessPlan, Needs, Planned, Shape, Size, Stub
from sandbox.records.training import (
    Backward,
    Final,
    Gradient,
    NonFinite,
    Parameter,
    ParameterFacts,
    ParameterValue,
    Precision,
    Stale,
    Step,
    UntrainedTensor,
)
from sandbox.records.whole import VERSION, Failed, FailedAt, Gradcheck, RunEnd, RunStart, Trace

__all__ = [
    "NOT_FINITE",
    "VERSION",
    "Assumed",
    "Backward",
    "Failed",
    "FailedAt",
    "Final",
    "Gradcheck",
    "Gradient",
    "HarnessPlan",
    "Inplace",
    "LazyModel",
    "Missing",
    "Needs",
    "NonFinite",
    "Number",
    "Parameter",
    "ParameterFacts",
    "ParameterValue",
    "Path",
    "Planned",
    "Precision",
    "Record",
    "Reuse",
    "RunEnd",
    "RunStart",
    "Shape",
    "Silent",
    "Size",
    "Stale",
    "Step",
    "Stub",
    "Trace",
    "UntrainedTensor",
]
