"""What is said of a command that has ended: the cause, the fix, and its check."""

from __future__ import annotations

import asyncio
import sys

from app.present.visible import escaped_json, visible
from app.schemas import Cause, Findings, Patch
from gradmend.run_wrapper import landlocked, last_result, report
from gradmend.run_wrapper.cli_args import RunArguments
from gradmend.run_wrapper.diagnosing import FailedRun, findings_of, seen_in
from gradmend.run_wrapper.exchange_dir import Process
from gradmend.run_wrapper.rerun import Again
from gradmend.run_wrapper.sharing import share
from gradmend.run_wrapper.stderr import RULE, Paint, note, say
from gradmend.run_wrapper.uncommitted import brought_by


def look(arguments: RunArguments, process: Process, *, raised: bool) -> Findings | None:
    """Tell what a process shows: an error that it `raised`, or what went wrong without one. None
    where it was stopped."""
    return _diagnose(arguments, seen_in(process), raised=raised)


def print_json(findings: Findings | None, summary: str) -> None:
    """Print findings on a line of their own, whatever the command has written last; where there are
    none, `summary` says why."""
    findings = findings or Findings()
    findings.summary = findings.summary or summary
    print(f"\n{escaped_json(findings.model_dump_json())}", flush=True)


def _diagnose(arguments: RunArguments, seen: FailedRun, *, raised: bool) -> Findings | None:
    """Return cause, fix and checks, printed as they are found; None if it was stopped."""
    paint = Paint()
    progress = ProgressPrinter(paint)
    if raised:  # else there may be nothing to say
        progress.begin()
    again, why_not = _to_run_again(arguments, seen)
    brought: list[str] = []

    async def witness(again: Again, seen: FailedRun, findings: Findings) -> None:
        if findings.causes:
            await progress.stage("comparing", 0, 1, "Comparing with the last commit")
        brought.extend(filter(None, [await brought_by(again, seen, findings)]))

    try:
        findings = asyncio.run(findings_of(seen, again, progress, witness if raised else None))
    except (KeyboardInterrupt, asyncio.CancelledError):
        note("stopped; the cause stands, no fix was checked")
        return None
    progress.clear()
    for trouble in sorted(again.troubles if again is not None else ())[:1]:
        note(trouble)
    if not findings.causes:
        if raised:
            note(findings.summary or "no cause was found")
        return findings
    progress.after_fixes(findings.causes[0])
    for name in seen.changed[:1]:
        note(f"{name} was changed while the command ran: lines may be others")
    report.show(findings, paint)
    for text in brought:
        say(text)
    if why_not is not None and arguments.rerun is None:
        note(why_not)
    places = {name: seen.process.files[name] for name in seen.sources}
    if not last_result.keep(last_result.Last(findings, seen.sources, places, seen.entry)):
        note("no folder takes the result, so `gradmend apply` will not know it")
    if arguments.share:
        share(arguments.share, seen)
    return findings


def _to_run_again(arguments: RunArguments, seen: FailedRun) -> tuple[Again | None, str | None]:
    """Return what runs the command again, or why nothing does."""
    if why_not := why_no_rerun(arguments):
        return None, why_not
    first, shown = seen.process, seen.run if seen.is_whole else None
    try:
        again = Again(
            arguments.command,
            first,
            shown,
            seen.sources,
            steps=arguments.steps,
            patient=arguments.patient or arguments.steps is not None,
        )
    except OSError as error:
        return None, f"no room for repeated runs ({error.strerror}): nothing was run again"
    return again, None


def why_no_rerun(arguments: RunArguments) -> str | None:
    """Return why nothing is run again, or None."""
    if arguments.rerun is False:
        return "it was not to be run again"
    if arguments.rerun is None and not landlocked.available():
        return (
            "this kernel has no Landlock, so files that C code writes could not be kept apart: "
            "nothing was run again; `gradmend run --rerun -- …` does"
        )
    return None


class ProgressPrinter:
    """Says the cause as soon as it is known, what is being done, and the first fix that passes.

    On a terminal, what is being done is one line that changes; elsewhere, a line for each step.
    """

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._shown: Cause | None = None
        self._passed = False
        self._doing = ""
        self._begun = False
        self._live = sys.stderr.isatty()

    def begin(self) -> None:
        """Say that what follows is not the command's own, once."""
        if not self._begun:
            say(RULE)
        self._begun = True

    def once(self, cause: Cause) -> None:
        """Say the cause, if none was said."""
        if self._shown is None:
            self._say(cause)

    def after_fixes(self, cause: Cause) -> None:
        """Say the cause that stands once fixes were tried, if it is not the one that was said."""
        if self._shown is not None and _place(self._shown) != _place(cause):
            say("the fix that holds shows another cause:")
            self._say(cause)
        self.once(cause)

    def _say(self, cause: Cause) -> None:
        self.begin()
        self._shown = cause
        for line in report.cause_lines(cause, self._paint):
            say(line)

    def clear(self) -> None:
        """Take the line of progress away."""
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        """Show what is being done, once the command is known to have failed."""
        if not self._begun:
            return
        counted = f" ({done} of {total} done)" if done and total > 1 else ""
        doing = f"{visible(message)}{counted} …"
        if self._live:
            print(f"\r\x1b[K{doing}", end="", file=sys.stderr, flush=True)
        elif doing != self._doing and stage not in ("reading", "reproducing"):
            say(doing)
        self._doing = doing

    async def cause(self, cause: Cause) -> None:
        """Print a cause; the surest comes first."""
        self.clear()
        self.once(cause)

    async def patch(self, patch: Patch) -> None:
        """Print a judged fix: the first that passes at once, others may come before it."""
        if not self._passed and patch.verification.status == "passed":
            self._passed = True
            self.clear()
            say(f"a fix passes: {visible(patch.title)}")


def _place(cause: Cause) -> tuple[str, str, int]:
    return cause.pattern, cause.location.file, cause.location.line
