"""Words and logs are no program with a syntax error, and an error in a log is read."""

from __future__ import annotations

import pytest

from analyzers.request.examine import examine
from analyzers.tracebacks import parse


@pytest.mark.parametrize(
    ("text", "is_fault"),
    [
        ("The part of interest is below.\n\n{'loss': 0.7,\n", False),
        ("[2025-01-02 03:04:05,678: INFO/Worker-1] Traceback (most recent call last):\n", False),
        ("# the part of interest is below\nout = net(x\n", True),
    ],
)
def test_prose_and_logs_are_no_program_with_a_syntax_error(text: str, is_fault: bool) -> None:
    examined = examine(text, "train.py", {}, "")
    assert (examined.fault is not None, examined.no_program) == (is_fault, not is_fault)


def test_a_stamp_of_a_worker_does_not_hide_an_error() -> None:
    stamp = "[2025-01-02 03:04:05,678: ERROR/Worker-1] [rank0]: "
    lines = ["Traceback (most recent call last):", '  File "a.py", line 3, in f', "    g()"]
    text = "\n".join(stamp + line for line in [*lines, "ValueError: too many rows"])
    error = parse(text)
    assert (error.exception, error.message, len(error.frames)) == (
        "ValueError",
        "too many rows",
        1,
    )


def test_of_an_unknown_error_the_title_asks() -> None:
    words = "# Gradient checkpointing fails with ZeRO-3\n\nValueError: no rows (0)\n"
    assert examine(words, "train.py", {}, "").asked == "checkpointing-sharded"
    known = "# Gradient checkpointing fails with ZeRO-3\n\nRuntimeError: element 0 of tensors "
    known += "does not require grad and does not have a grad_fn\n"
    assert examine(known, "train.py", {}, "").asked is None
