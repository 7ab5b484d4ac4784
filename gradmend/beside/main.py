"""`gradmend run`, and what can be asked of its result: `apply`, `show`, `explain`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from app.present.guide import guides
from app.present.visible import escaped_json, visible
from app.schemas import Cause, Findings, Patch
from gradmend.beside import command, last, telling, walled
from gradmend.beside.again import Again
from gradmend.beside.box import Box, Process
from gradmend.beside.diagnosing import Seen, findings_of, seen_in
from gradmend.beside.sharing import share
from gradmend.beside.telling import Paint, note, say
from gradmend.beside.words import HELP, Words, WordsError, parse

USAGE = 2
# Ended well, never begun, or ended by who started it: nothing to explain.
_QUIET = (0, command.NOT_FOUND, command.NOT_RUNNABLE, -signal.SIGINT, -signal.SIGTERM, 130, 143)


def run(arguments: list[str]) -> int:
    """Run the user's command, and diagnose where it failed; its own exit code."""
    try:
        words = parse(arguments)
    except WordsError as error:
        note(str(error))
        return USAGE
    if words.help:
        print(HELP, end="")
        return 0
    return command.leave_as(_beside(words))


def _beside(words: Words) -> int:
    try:
        box = Box({"mode": "trace", "gradients": False, "silent": words.check, "seed": False})
    except OSError as error:
        note(f"no room for records ({error.strerror}); the command runs without a tracer")
        return _run(words, None)
    try:
        code = _run(words, box)
        with suppress(KeyboardInterrupt):
            _look(words, box, code)
        return code
    finally:
        box.close()


def _run(words: Words, box: Box | None) -> int:
    """The command's return code; what a shell would say of one that cannot be started."""
    try:
        return command.run(words.command, box.environment() if box else dict(os.environ))
    except command.CommandError as error:
        note(str(error))
        return error.code


def _look(words: Words, box: Box, code: int) -> None:
    """Say what is to be said of how the command ended; of a healthy one, nothing."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    found = box.processes()
    failed = [one for one in found if one.failed]
    if code == 0:
        failed = [one for one in found if words.check and one.silent]
    findings = Findings()
    if failed:
        findings = _diagnose(words, seen_in(failed[0])) or findings
    elif code not in _QUIET:
        findings.summary = _why_not(found, box, code)
        note(findings.summary)
    if words.json:
        # On a line of its own, whatever the command has written last.
        print(f"\n{escaped_json(findings.model_dump_json())}", flush=True)


def _why_not(found: list[Process], box: Box, code: int) -> str:
    """Why a command that failed gets no diagnosis."""
    if code < 0 or code >= 128:
        return "the command was ended by a signal, not by an error of autograd"
    if troubles := box.troubles():
        return f"not traced: {troubles[0]}"
    if not found:
        return (
            "no Python of this command imported torch, so nothing was traced (is it another "
            "interpreter, `python -I`, `-E` or `-S`, or an error before the import?)"
        )
    if all(b'{"t":"backward"' not in one.records for one in found):
        return "the command failed before its first backward call: no error of autograd"
    return "the command failed, but not with an error of autograd"


def _diagnose(words: Words, seen: Seen) -> Findings | None:
    """Cause, fix, check; told as they are found. None where it was stopped."""
    paint = Paint()
    say(telling.RULE)
    for name in seen.changed[:1]:
        note(f"{name} was changed while the command ran: lines may be others")
    why_not = _why_no_rerun(words)
    again = None
    if why_not is None:
        again = Again(words.command, seen.process, seen.run, seen.sources, steps=words.steps)
    progress = Telling(paint)
    try:
        findings = asyncio.run(findings_of(seen, again, progress))
    except (KeyboardInterrupt, asyncio.CancelledError):
        note("stopped; the cause stands, no fix was checked")
        return None
    progress.clear()
    if not findings.causes:
        note(findings.summary or "no cause was found")
        return findings
    progress.once(findings.causes[0])
    telling.show(findings, paint)
    if why_not is not None and words.rerun is None:
        note(why_not)
    places = {name: seen.process.files[name] for name in seen.sources}
    if not last.keep(last.Last(findings, seen.sources, places, seen.entry)):
        note("no folder takes the result, so `gradmend apply` will not know it")
    if words.share:
        share(words.share, seen)
    return findings


def _why_no_rerun(words: Words) -> str | None:
    """Why nothing is run again, if so."""
    if words.rerun is False:
        return "it was not to be run again"
    if words.rerun is None and not walled.available():
        return (
            "this kernel has no Landlock, so files that C code writes could not be kept apart: "
            "nothing was run again; `gradmend run --rerun -- …` does"
        )
    return None


class Telling:
    """Says the cause as soon as it is known, and what is being done where somebody watches."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._told = False
        self._live = sys.stderr.isatty()

    def once(self, cause: Cause) -> None:
        """Say the cause, if it was not said."""
        if not self._told:
            self._told = True
            for line in telling.cause_lines(cause, self._paint):
                say(line)

    def clear(self) -> None:
        """Take the line of progress away."""
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        """A line of progress, on a terminal only."""
        if self._live:
            print(f"\r\x1b[K{visible(message)} …", end="", file=sys.stderr, flush=True)

    async def cause(self, cause: Cause) -> None:
        """A cause was found; the surest comes first."""
        self.clear()
        self.once(cause)

    async def patch(self, patch: Patch) -> None:
        """A fix was judged."""


def apply(arguments: list[str]) -> int:
    """`gradmend apply [N]`: write the fix into the files."""

    def write(kept: last.Last, patch: Patch) -> None:
        telling.one_patch(patch, Paint())
        note(f"changed {', '.join(last.write(kept, patch))}")

    return _of_last(arguments, write)


def show(arguments: list[str]) -> int:
    """`gradmend show [N]`: a fix of the last run with its checks."""
    return _of_last(arguments, lambda kept, patch: telling.one_patch(patch, Paint()))


def _of_last(arguments: list[str], do: Callable[[last.Last, Patch], None]) -> int:
    if arguments and not (len(arguments) == 1 and arguments[0].isdigit()):
        note("which fix? A number, as in: gradmend show 2")
        return USAGE
    try:
        kept = last.load()
        do(kept, kept.patch(int(arguments[0]) if arguments else 1))
    except last.NothingKept as error:
        note(str(error))
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        note(f"nothing was changed: {where}{(error.strerror or 'it cannot be written').lower()}")
        return 1
    return 0


def explain(arguments: list[str]) -> int:
    """`gradmend explain PATTERN`: the page about it, as text."""
    guide = guides().get(arguments[0]) if len(arguments) == 1 else None
    if guide is None:
        note("which pattern? One of: " + ", ".join(guides()))
        return USAGE
    print(f"{guide.title}\n\n{guide.lead}\n")
    for section in guide.sections:
        print(f"{section.heading + ': ' if section.heading else ''}{section.text}\n")
    for head, code in (("Broken", guide.broken), ("Fixed", guide.mended)):
        if code:
            print(f"{head}:\n")
            print("\n".join(f"    {line}" for line in code.splitlines()) + "\n")
    return 0
