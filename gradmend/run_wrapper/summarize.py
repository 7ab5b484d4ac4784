"""What is said of a command that has ended: the cause, the fix, and its check."""

from __future__ import annotations

import asyncio
import math

from app.command.fixing import caveat
from app.present.visible import escaped_json, visible
from app.schemas import Cause, Findings, Patch
from gradmend.run_wrapper import last_result, report
from gradmend.run_wrapper.cli_args import RunArguments
from gradmend.run_wrapper.cut_terms import are_suspected
from gradmend.run_wrapper.diagnosing import FailedRun, findings_of, seen_in, silent_findings_of
from gradmend.run_wrapper.exchange_dir import Process
from gradmend.run_wrapper.progress import ProgressLine
from gradmend.run_wrapper.rerun import Again
from gradmend.run_wrapper.sharing import share
from gradmend.run_wrapper.starting import Warm, why_no_rerun
from gradmend.run_wrapper.stderr import RULE, Paint, note, say
from gradmend.run_wrapper.uncommitted import brought_by, changed_since_commit

ALL_S = 60.0  # for all repeated runs, unless the user is patient
LEAST_S, LONGER = 10.0, 4.0  # the same, if no fault was seen yet: or so many times the command's


def look(
    arguments: RunArguments, process: Process, warm: Warm | None, *, raised: bool
) -> Findings | None:
    """Tell what a process shows: an error that it `raised`, or what went wrong without one. None
    where it was stopped."""
    return _diagnose(arguments, seen_in(process), warm, raised=raised)


def print_json(findings: Findings | None, summary: str) -> None:
    """Print findings on a line of their own, whatever the command has written last; where there are
    none, `summary` says why."""
    findings = findings or Findings()
    findings.summary = findings.summary or summary
    print(f"\n{escaped_json(findings.model_dump_json())}", flush=True)


def _diagnose(
    arguments: RunArguments, seen: FailedRun, warm: Warm | None, *, raised: bool
) -> Findings | None:
    """Return cause, fix and checks, printed as they are found; None if it was stopped."""
    paint = Paint()
    progress = ProgressPrinter(paint)
    if raised:  # else there may be nothing to say
        progress.begin()
    again, why_not = _to_run_again(arguments, seen, warm, raised=raised)
    brought: list[str] = []

    async def witness(again: Again, seen: FailedRun, findings: Findings) -> None:
        changed = await changed_since_commit(seen)
        if findings.causes and changed:
            await progress.stage("comparing", 0, 1, "Comparing with the last commit")
            sentence = await brought_by(again, seen, findings.causes[0], changed)
            brought.extend(filter(None, [sentence]))

    async def found() -> Findings:
        async with progress.line.ticking():
            if raised:
                return await findings_of(seen, again, progress, progress.early, witness)
            # One that shows no fault was chosen for what is suspected in it.
            patient = arguments.waits or not seen.process.silent or are_suspected(seen.process)
            return await silent_findings_of(seen, again, progress, patient=patient)

    try:
        findings = asyncio.run(found())
    except (KeyboardInterrupt, asyncio.CancelledError):
        note("stopped; the cause stands, no fix was checked")
        return None
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


def _to_run_again(
    arguments: RunArguments, seen: FailedRun, warm: Warm | None, *, raised: bool
) -> tuple[Again | None, str | None]:
    """Return what runs the command again, or why nothing does."""
    if why_not := why_no_rerun(arguments):
        return None, why_not
    first, shown = seen.process, seen.run if seen.is_whole else None
    limit = ALL_S if raised or first.silent else min(ALL_S, max(LEAST_S, LONGER * first.seconds))
    try:
        again = Again(
            arguments.command,
            first,
            shown,
            seen.sources,
            steps=arguments.steps,
            most_s=math.inf if arguments.waits else limit,
            found_s=ALL_S,
            warm=warm,
        )
    except OSError as error:
        return None, f"no room for repeated runs ({error.strerror}): nothing was run again"
    return again, None


class ProgressPrinter:
    """Says the cause as soon as it is known, what is being done (`line`), and the first fix that
    passes."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._shown: Cause | None = None
        self._passed = self._examined = False
        self._begun = False
        self.line = ProgressLine()

    def begin(self) -> None:
        """Say that what follows is not the command's own, once."""
        if not self._begun:
            say(RULE)
        self._begun = True

    async def early(self, cause: Cause) -> None:
        """Say the cause that the failed run alone shows."""
        self._say(cause)

    def after_fixes(self, cause: Cause) -> None:
        """Say the cause that stands once fixes were tried, if it is not the one that was said."""
        self._say_if_new(cause, "the fix that holds")

    def _say_if_new(self, cause: Cause, by: str) -> None:
        if self._shown is not None and _place(self._shown) == _place(cause):
            return
        if self._shown is not None:
            self.line.clear()
            same = self._shown.pattern == cause.pattern
            say(f"{by} shows another {'line' if same else 'cause'}:")
        self._say(cause)

    def _say(self, cause: Cause) -> None:
        self.begin()
        self.line.clear()
        self._shown = cause
        for line in report.cause_lines(cause, self._paint):
            say(line)

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        """Show what is being done, once the command is known to have failed."""
        brief = stage in ("reading", "reproducing")  # the command has failed already
        if self._begun and (self.line.live or not brief):
            self.line.show(message, done, total)

    async def cause(self, cause: Cause) -> None:
        """Print a cause; the surest comes first, and the others are not printed."""
        if not self._examined:
            self._examined = True
            self._say_if_new(cause, "a closer look")

    async def patch(self, patch: Patch) -> None:
        """Print the first fix that passes, with what it changes: a better one may follow."""
        if not self._passed and patch.verification.status == "passed":
            self._passed = True
            self.line.clear()
            say(f"passes so far: {visible(patch.title)}{caveat(patch)}")


def _place(cause: Cause) -> tuple[str, str, int]:
    return cause.pattern, cause.location.file, cause.location.line
