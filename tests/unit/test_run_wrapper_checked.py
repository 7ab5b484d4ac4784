"""`gradmend run --check` reads records by the names that the tracer gives their fields."""

from __future__ import annotations

import json

from gradmend.run_wrapper.checked import summary
from gradmend.run_wrapper.exchange_dir import Process
from provenance import BackwardCall, CodeLine
from sandbox.records import Backward, RunEnd
from tests.trainings import parameter


def summary_of(calls: int) -> str:
    call = BackwardCall(at=CodeLine("train.py", 9))
    params = [parameter(0, "w", 1.0).model_dump()]
    lines = [json.dumps({"t": "parameters", "params": params})]
    lines += [Backward(t="backward", call=call, nodes=4, received=[0]).model_dump_json()] * calls
    lines += [RunEnd(t="end", reason="finished", backwards=9, examined=calls).model_dump_json()]
    return summary([Process(1, records="\n".join(lines).encode())])


def test_the_summary_reads_what_the_tracer_writes() -> None:
    assert summary_of(7) == (
        "checked 7 of 9 backward calls: every parameter of the optimizer gets a gradient, "
        "graphs stay level, no fault was found"
    )


def test_six_calls_do_not_show_whether_graphs_stay_level() -> None:
    assert "level" not in summary_of(6)
