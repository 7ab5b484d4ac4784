"""Define the records that a traced run emits, one JSON object a line, as the host reads them.

They come from a hostile process: every field is bounded and validated here, and nothing in them is
trusted beyond what it says about the script itself. Lines are 1-based; files are relative to the
job's directory; library files keep their module path (`torch/nn/modules/rnn.py`).
"""

from sandbox.records.base import NOT_FINITE, Count, Late, Number, Record, Text
from sandbox.records.carried import Hop, Kind, Part, Path
from sandbox.records.faults import Changed, Inplace, Missing, Reuse, Silent
from sandbox.records.places import Holder, Join, NodeAt, Place, Visit
from sandbox.records.training import (
    Backward,
    Final,
    Gradient,
    Held,
    Other,
    Parameter,
    Parameters,
    Precision,
    Stale,
    Step,
)
from sandbox.records.whole import VERSION, Ended, Failed, FailedAt, Started, Trace
from sandbox.records.world import Assumed, Needs, Plan, Planned, Shape, Size, StandIn

__all__ = [
    "NOT_FINITE",
    "VERSION",
    "Assumed",
    "Backward",
    "Changed",
    "Count",
    "Ended",
    "Failed",
    "FailedAt",
    "Final",
    "Gradient",
    "Held",
    "Holder",
    "Hop",
    "Inplace",
    "Join",
    "Kind",
    "Late",
    "Missing",
    "Needs",
    "NodeAt",
    "Number",
    "Other",
    "Parameter",
    "Parameters",
    "Part",
    "Path",
    "Place",
    "Plan",
    "Planned",
    "Precision",
    "Record",
    "Reuse",
    "Shape",
    "Silent",
    "Size",
    "Stale",
    "StandIn",
    "Started",
    "Step",
    "Text",
    "Trace",
    "Visit",
]
