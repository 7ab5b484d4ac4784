"""`gradmend run`: the user's command unchanged, with the tracer in it.

What explains a failure is imported once there is one: until then, this process only waits.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from gradmend.run_wrapper import user_command
from gradmend.run_wrapper.cli_args import HELP, ArgumentsError, RunArguments, parse
from gradmend.run_wrapper.exchange_dir import ExchangeDir, Process
from gradmend.run_wrapper.stderr import note

USAGE = 64  # as of every command: 2 is a verdict of `--against`
# Ended well, never begun, or ended by who started it: nothing to explain.
_QUIET = (
    *(0, user_command.NOT_FOUND, user_command.NOT_RUNNABLE),
    *(-signal.SIGINT, -signal.SIGTERM, 130, 143),
)


def run(arguments: list[str]) -> int:
    """Run the user's command, diagnose a failure, and return the command's own exit code."""
    try:
        parsed = parse(arguments)
    except ArgumentsError as error:
        note(str(error))
        return USAGE
    if parsed.help:
        print(HELP, end="")
        return 0
    if parsed.against is not None:
        from gradmend.run_wrapper.against import compare  # with the whole comparison

        return compare(parsed)
    return user_command.leave_as(_run_wrapped(parsed))


def _run_wrapped(arguments: RunArguments) -> int:
    try:
        box = ExchangeDir(
            {"mode": "trace", "silent": arguments.check, "seed": False, "limited": True}
        )
    except OSError as error:
        note(f"no room for records ({error.strerror}); the command runs without a tracer")
        return _run(arguments, None)
    try:
        code = _run(arguments, box)
        with suppress(KeyboardInterrupt):
            found = _look(arguments, box, code)
            return 1 if arguments.strict and found and code == 0 else code
        return code
    finally:
        box.close()


def _look(arguments: RunArguments, box: ExchangeDir, code: int) -> bool:
    """Say what is to be said of how the command ended; whether a cause was found. Of a healthy
    command nothing is said, unless it was to be checked."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    found = box.processes()
    failed = _failed(found) if code else [one for one in found if one.failed and one.given_up]
    raised = code != 0 or bool(failed)
    if not raised:
        failed = [one for one in found if _is_doubted(one, arguments)]
    summary = "" if failed or code in _QUIET else _why_not(found, box, code)
    if summary:
        note(summary)
    findings = None
    if failed:
        from gradmend.run_wrapper.starting import Warm

        warm = Warm.early(arguments, box, failed[0]) if raised else None
        from gradmend.run_wrapper.summarize import look

        findings = look(arguments, failed[0], warm, raised=raised)
    causes = findings is not None and bool(findings.causes)
    if arguments.check and code == 0 and not causes:
        from gradmend.run_wrapper.checked import summary as checked

        again = findings.run if findings is not None else None
        note(summary := checked(found, again.backward_calls if again is not None else 0))
    if arguments.json:
        from gradmend.run_wrapper.summarize import print_json

        print_json(findings, summary)
    return causes


def _is_doubted(process: Process, arguments: RunArguments) -> bool:
    """Return True if a process of a command that ended well is looked at: for a fault that its
    records show, or, where the user waits for it, for one that only a slower run can show."""
    if not arguments.check or process.silent or process.engine:
        return arguments.check
    from gradmend.run_wrapper.cut_terms import are_suspected

    return (arguments.waits and process.constant_terms) or are_suspected(process)


def _failed(found: list[Process]) -> list[Process]:
    """Return the processes of a failed command in which autograd, or an engine, raised the
    error."""
    failed = [one for one in found if one.failed]
    failed = failed or [one for one in found if one.engine and one.error is not None]
    if failed or not any(one.raised for one in found):
        return failed
    from analyzers.messages import entry_of

    return [one for one in found if one.raised and entry_of(one.raised) is not None]


def _why_not(found: list[Process], box: ExchangeDir, code: int) -> str:
    """Return why a command that failed gets no diagnosis."""
    if code < 0 or code >= 128:
        return "the command was ended by a signal, not by an error of autograd"
    if troubles := box.troubles():
        return f"not traced: {troubles[0]}"
    if not found:
        return (
            "no Python of this command imported torch, so nothing was traced (is it another "
            "interpreter, `python -I`, `-E` or `-S`, or an error before the import?)"
        )
    with_backward = [one for one in found if b'{"t":"backward"' in one.records]
    if not all(one.ended for one in with_backward) or not any(one.ended for one in found):
        return "no cause can be named: the records stop before the program did (is a disk full?)"
    if not with_backward:
        return "the command failed before its first backward call: no error of autograd"
    return "the command failed, but not with an error of autograd"


def _run(arguments: RunArguments, box: ExchangeDir | None) -> int:
    """Return the command's return code, or the shell's code for one that cannot be started."""
    try:
        return user_command.run(arguments.command, box.environment() if box else dict(os.environ))
    except user_command.CommandError as error:
        note(str(error))
        return error.code
