"""How a run ended that met no known fault: by the script itself, by an error of another kind, or by
a limit."""

from __future__ import annotations

import ast

from analyzers.explain.listed import counted
from app.request.case import Case
from app.run.outcome import len_backwards
from provenance import CodeLine
from sandbox.protocol import Raised, RunResult

_ENGINE = "_engine_run_backward"  # torch's own function around each backward call
_LEAVES = (ast.Break, ast.Return, ast.Raise)


def by_itself(run: RunResult, case: Case) -> str:
    """Return what ended a run that raised an error of no known kind, and how far it had come."""
    raised = run.raised
    if raised is None:
        return f"The run ended with exit code {run.exit_code}."
    calls = len_backwards(run)
    within = any(frame.function == _ENGINE for frame in raised.frames)
    nothing = "no backward call was completed" if within else "nothing called backward"
    seen = f"{counted(calls, 'backward call')} ran clean" if calls else nothing
    return f"{_raised(raised, case)}. Until then {seen}."


def _raised(raised: Raised, case: Case) -> str:
    own = [frame for frame in raised.frames if frame.file in case.project.files]
    at = CodeLine(own[-1].file, own[-1].line) if own else None
    where = f" in {_place(at, case)}" if at is not None else ""
    message = raised.message.partition("\n")[0].removesuffix(".")
    match raised.type:
        case "SystemExit" if message.lstrip("-").isdigit():
            return f"The script ended itself{where}, with exit code {message}"
        case "SystemExit":
            return f"The script ended itself{where}, with the message: {message or 'none'}"
        case "AssertionError":
            return f"An assertion failed{where}{f': {message}' if message else ''}"
    return f"The script raised an error of its own{where}: {raised.type}: {message}"


def by_limit(run: RunResult, case: Case) -> str:
    """Return a clause: the time limit ended a run, or enough of it was seen; and where it was."""
    calls = len_backwards(run)
    last = run.trace.backwards[-1].call.at if run.trace and run.trace.backwards else None
    ended = (
        "it was stopped when enough of it was seen"
        if run.status == "stopped"
        else f"the time limit of {case.time_limit_s:g} s ended it"
    )
    where = f", the last in {_place(last, case)}" if last is not None else ""
    loop = _endless_loop(case, last)
    goes_on = f"; the `while` loop in {_place(loop, case)} has no end" if loop is not None else ""
    return f"{ended}, after {counted(calls, 'backward call')}{where}{goes_on}"


def _place(at: CodeLine, case: Case) -> str:
    if (cell := case.cell_of(at)) is not None:
        return cell
    file = f" of `{at.file}`" if at.file != case.project.entry else ""
    return f"line {at.line}{file}"


def _endless_loop(case: Case, last: CodeLine | None) -> CodeLine | None:
    """Return the loop that nothing in it leaves, around the last backward call if there was one."""
    module = case.project.module(case.project.entry)
    if module is None or (last is not None and last.file != module.path):
        return None
    for loop in module.each(ast.While):
        around = last is None or loop.lineno <= last.line <= (loop.end_lineno or 0)
        later = last is not None and loop.lineno > last.line
        if (around or later) and isinstance(loop.test, ast.Constant) and loop.test.value:
            if not any(isinstance(node, _LEAVES) for node in ast.walk(loop)):
                return CodeLine(module.path, loop.lineno)
    return None
