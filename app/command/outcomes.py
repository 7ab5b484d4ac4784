"""What becomes of a diagnosis in the terminal: it is printed, its fix written, its exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.markup import escape

from app.command.fixing import best, chosen, warned, why_none, written
from app.command.forms import rendered
from app.command.lines import Settled, is_clean, lines_of, summary_of
from app.command.options import COULD_NOT_TELL, FOUND, HEALTHY, Options, worst
from app.command.project import Target
from app.command.showing import show, show_diff
from app.diagnose import Progress
from app.present import fix_wording
from app.present.suppressions import is_ignored, is_marked
from app.present.visible import visible
from app.schemas import Cause, DiagnosisRequest, Findings, Patch


class Diagnoser(Protocol):
    """Diagnose one request."""

    async def __call__(self, request: DiagnosisRequest, *, progress: Progress) -> Findings: ...


class LiveProgress:
    """Progress on one line of the terminal."""

    def __init__(self, update: Callable[[str], None]) -> None:
        self._update = update

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        counted = f" ({done}/{total})" if total > 1 else ""
        self._update(escape(visible(f"{message}{counted} …")))

    async def cause(self, cause: Cause) -> None:
        self._update(escape(f"Found {cause.pattern}, line {cause.location.line} …"))

    async def patch(self, patch: Patch) -> None:
        text = f"{fix_wording.proof(patch).capitalize()}: {patch.title}. Looking for a better one …"
        self._update(escape(visible(text)))


async def diagnosed(
    targets: Sequence[Target],
    options: Options,
    ask: Diagnoser,
    messages: Console,
    refused: int = 0,
) -> int:
    """Diagnose every script, print what was found, write what was asked for; the exit code.
    `refused` counts further files, which could not be read.

    Raises `BadInput`."""
    output = Console(highlight=False)
    whole = options.verbose or (len(targets) + refused == 1 and output.is_terminal)
    settled: list[Settled] = []
    for target in targets:
        with progress_on(messages) as progress:
            findings = await ask(target.request, progress=progress)
        settled.append(_settled(target, findings, options, messages))
        if options.form == "text" and not options.diff:
            _tell(settled[-1], options, output, whole=whole)
    if options.form != "text" and not options.diff:
        print(rendered(options.form, settled))
    elif not options.diff and not options.quiet:
        output.print(escape(summary_of(settled, options, refused)), soft_wrap=True)
    return worst([one.code for one in settled], lenient=options.lenient)


def _tell(one: Settled, options: Options, output: Console, *, whole: bool) -> None:
    """A script's findings: whole where one was asked about or all is wanted, else in a line."""
    if whole and not (
        one.ignored or (is_clean(one.target, one.findings) and len(options.paths) > 1)
    ):
        show(one.findings, output, apply=_how_to_apply(one), verbose=options.verbose)
    else:
        for line in lines_of(one):
            output.print(escape(line), soft_wrap=True)


def _how_to_apply(one: Settled) -> str:
    """The command that writes the best fix, or that it was written; empty where there is none."""
    patch = best(one.findings.patches, unsafe=True)
    if one.fixed:
        return f"written to {one.target.path}"
    if patch is None or one.target.path is None:
        return ""
    flags = "--fix" if patch.level == "safe" else "--fix --unsafe-fixes"
    return f"apply: gradmend {one.target.path} {flags}"


def _settled(target: Target, findings: Findings, options: Options, messages: Console) -> Settled:
    """Show or write the fix of a script, where one was asked for; what came out."""
    cause = findings.causes[0] if findings.causes else None
    if cause is not None and (
        is_ignored(cause, options.ignore) or is_marked(cause, target.sources())
    ):
        return Settled(target, findings, HEALTHY, ignored=True)
    found = FOUND if findings.verdict in ("confirmed", "likely") else COULD_NOT_TELL
    code = HEALTHY if is_clean(target, findings) else found
    patch = chosen(findings, options)
    if options.diff:
        if patch is not None:
            show_diff(patch.diff, Console(highlight=False))
            if warning := warned(patch):
                messages.print(escape(warning), soft_wrap=True)
        else:
            messages.print(escape(f"No diff: {why_none(findings, options)}."), soft_wrap=True)
    elif options.fix:
        if patch is not None or cause is not None:
            done = written(findings, patch, target, options)
            messages.print(escape(f"{target.request.filename}: {done}"), soft_wrap=True)
        if patch is not None and patch.verification.status == "passed" and target.path:
            return Settled(target, findings, HEALTHY, fixed=True)
    return Settled(target, findings, code)


@contextmanager
def progress_on(console: Console) -> Iterator[LiveProgress]:
    """Progress where somebody watches; elsewhere what would draw it is not even imported."""
    if not console.is_terminal:
        yield LiveProgress(lambda text: None)
        return
    with console.status("Starting …") as status:
        yield LiveProgress(status.update)
