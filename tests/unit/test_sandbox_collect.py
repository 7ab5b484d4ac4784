"""What the host makes of the bytes that a run left."""

from __future__ import annotations

import math
import re
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import records as rec
from sandbox.collect import read_trace, run_result
from sandbox.protocol import Job
from sandbox.records.carried import SHAPE_DEPTH
from sandbox.stderr import last_exception
from sandbox.walls.numbers import NUMBERS
from sandbox.watch.outcome import ProcessOutcome

JOB = Job(files={"train.py": ""})
START = b'{"t": "start", "v": 1, "torch": "2"}\n'
END = b'{"t": "end", "reason": "finished", "backwards": 1, "steps": 0}\n'


@given(st.binary(max_size=2000))
def test_any_bytes_make_a_trace(data: bytes) -> None:
    trace, _ = read_trace(START + data)
    assert trace.started is not None
    assert trace.rejected <= len(data)


@given(st.binary(max_size=500), st.binary(max_size=500), st.integers(-64, 255))
def test_any_outcome_makes_a_result(stderr: bytes, records: bytes, code: int) -> None:
    outcome = ProcessOutcome("exited", exit_code=code, stderr=stderr, records=records)
    result = run_result(JOB, ProcessOutcome.unpack(outcome.pack()), "jail")
    assert (result.status == "raised") == (code != 0)
    assert type(result).model_validate(result.model_dump()) == result


@pytest.mark.parametrize("payload", [b"", b"\0" * 16, b"\0" * 15 + b"\1", b"x" * 100])
def test_what_is_no_outcome_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match=r"too short|add up|Expecting value"):
        ProcessOutcome.unpack(payload)


def test_a_flood_of_valid_records_is_bounded() -> None:
    step = b'{"t": "step", "n": 1}\n'
    trace, _ = read_trace(START + step * 10_000 + END)
    assert trace.truncated
    assert len(trace.steps) == 4096
    assert trace.ended is not None


def test_assumptions_are_bounded_and_of_known_kinds() -> None:
    one = b'{"t": "assumed", "kind": "name", "name": "netD", "text": "a small model"}\n'
    odd = b'{"t": "assumed", "kind": "spell", "name": "netD"}\n'
    long = b'{"t": "assumed", "kind": "name", "name": "' + b"n" * 501 + b'"}\n'
    trace, _ = read_trace(START + one * 100 + odd + long + END)
    assert [(a.kind, a.name) for a in trace.assumed] == [("name", "netD")] * 64
    assert (trace.rejected, trace.truncated) == (2, True)


def test_shapes_of_values_are_cut_below_what_the_tracer_records() -> None:
    shape = '{"kind": "none"}'
    for _ in range(20):
        shape = f'{{"kind": "list", "parts": [{{"key": "0", "kind": {shape}}}]}}'
    hop = f'{{"at": {{"file": "train.py", "line": 1}}, "how": "bound", "kind": {shape}}}'
    trace, _ = read_trace(START + f'{{"t": "path", "bindings": [{hop}]}}\n'.encode())
    assert trace.path is not None
    kind, levels = trace.path.bindings[0].kind, 0
    while kind.parts:
        kind, levels = kind.parts[0].kind, levels + 1
    assert levels == SHAPE_DEPTH


@pytest.mark.parametrize(
    "call", ['"n": -1', '"root": [' + ", ".join(['"x"'] * 9) + "]", f'"library": ["{"x" * 501}"]']
)
def test_backward_calls_beyond_their_bounds_are_no_records(call: str) -> None:
    visit = f'{{"at": {{"file": "train.py", "line": 1}}, {call}}}'
    trace, _ = read_trace(START + f'{{"t": "backward", "call": {visit}}}\n'.encode())
    assert (len(trace.backwards), trace.rejected) == (0, 1)


def test_a_second_end_is_reported() -> None:
    trace, doubts = read_trace(START + END + END)
    assert trace.ended is not None
    assert doubts == ["more than one 'end' record"]


def test_a_chained_exception_is_read_as_python_prints_it() -> None:
    def inner() -> None:
        raise KeyError("first")

    try:
        try:
            inner()
        except KeyError as error:
            raise ValueError("second\nline of it") from error
    except ValueError as error:
        printed = "noise before\n" + "".join(traceback.format_exception(error))
    raised = last_exception(printed)
    assert raised is not None
    assert (raised.type, raised.message) == ("ValueError", "second\nline of it")
    assert raised.frames[-1].code == 'raise ValueError("second\\nline of it") from error'
    assert "KeyError" in raised.traceback
    assert "noise" not in raised.traceback


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        ("BlockingIOError: [Errno 11] Resource temporarily unavailable", True),
        ("RuntimeError: can't start new thread", True),
        ("BlockingIOError: [Errno 115] Operation now in progress", False),
        ("RuntimeError: Trying to backward through the graph a second time", False),
    ],
)
def test_a_refused_task_has_met_the_limit_of_processes_where_many_ran(
    error: str, refused: bool
) -> None:
    printed = f"Traceback (most recent call last):\n{error}\n".encode()
    job = Job(files={"train.py": ""}, mode="plain")
    for many in (True, False):
        outcome = ProcessOutcome("exited", exit_code=1, near_task_limit=many, stderr=printed)
        result = run_result(job, outcome, "jail")
        met = ("limit_hit", "processes") if many and refused else ("raised", None)
        assert (result.status, result.limit) == met


def test_output_without_a_traceback_raised_nothing() -> None:
    assert last_exception("Warning: something\n") is None


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0),
        ("/usr/include/asm-generic/unistd.h", 1),
    ],
)
def test_numbers_of_system_calls_agree_with_the_kernels_headers(header: str, column: int) -> None:
    if not Path(header).exists():
        pytest.skip(f"{header} is not installed")
    text = Path(header).read_text()
    reported = {
        name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", text)
    }
    ours = {name: row[column] for name, row in NUMBERS.items()}
    checked = {name: value for name, value in ours.items() if name in reported}
    assert len(checked) > 50
    assert checked == {name: reported[name] for name in checked}


def test_what_is_not_a_number_goes_over_the_wire_and_back() -> None:
    gradient = rec.Gradient(param=1, norm=math.nan, projections=[math.inf, -1.0])
    assert gradient.norm == rec.NOT_FINITE
    assert rec.Gradient.model_validate_json(gradient.model_dump_json()) == gradient
