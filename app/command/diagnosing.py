"""Diagnoses in the terminal: the same as the service's, with an embedded sandbox."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from pebble import CONSTS
from rich.console import Console
from rich.markup import escape

from app.command.choosing import scripts_of
from app.command.fixing import chosen, why_none, written
from app.command.forms import told
from app.command.options import Options
from app.command.project import Target, module_file, target_of
from app.command.showing import show, show_diff
from app.diagnose import diagnose
from app.present import wording
from app.present.visible import visible
from app.request.reader import Reader, collect_rarely
from app.schemas import Cause, Findings, Patch
from sandbox.protocol import Sandbox

HEALTHY, FOUND, COULD_NOT_TELL = 0, 1, 2
EXIT_CODES = {"healthy": HEALTHY, "confirmed": FOUND, "likely": FOUND}


class ProgressLine:
    """Progress on one line of the terminal."""

    def __init__(self, update: Callable[[str], None]) -> None:
        self._update = update

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        counted = f" ({done}/{total})" if total > 1 else ""
        self._update(escape(visible(f"{message}{counted} …")))

    async def cause(self, cause: Cause) -> None:
        self._update(escape(f"Found {cause.pattern}, line {cause.location.line} …"))

    async def patch(self, patch: Patch) -> None:
        told = f"{wording.proof(patch).capitalize()}: {patch.title}. Looking for a better one …"
        self._update(escape(visible(told)))


async def diagnose_here(options: Options) -> int:
    """Diagnose every script, print what was found, write what was asked for; the exit code.

    Raises `BadInput`."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    paths = options.paths or ((module_file(options.module),) if options.module else ())
    targets = [target_of(path, options) for path in scripts_of(paths)]
    messages = Console(stderr=True, highlight=False)
    for name in sorted({name for target in targets for name in target.gathered.left_out}):
        messages.print(f"[yellow]left out:[/] {escape(name)} (no more fits into one request)")
    found: list[tuple[Target, Findings]] = []
    codes: list[int] = []
    async with tools(options) as (sandbox, reader):
        for target in targets:
            with progress_on(messages) as progress:
                findings = await diagnose(
                    target.request, sandbox=sandbox, reader=reader, progress=progress
                )
            found.append((target, findings))
            codes.append(_settle(target, findings, options, messages, heading=len(targets) > 1))
    if options.form != "text" and not options.diff:
        print(told(options.form, found, single=len(targets) == 1))
    return _worst(codes)


def _settle(
    target: Target, findings: Findings, options: Options, messages: Console, *, heading: bool
) -> int:
    """Print one script's findings, show or write its fix; its exit code."""
    output = Console(highlight=False)
    patch = chosen(findings, options)
    if options.diff:
        if patch is not None:
            show_diff(patch.diff, output)
        else:
            messages.print(escape(f"No diff: {why_none(findings)}."), soft_wrap=True)
    elif options.form == "text":
        if heading:
            output.print(f"\n[bold underline]{escape(visible(target.request.filename))}[/]")
        show(findings, output)
    if options.fix and not options.diff:
        messages.print(escape(written(findings, patch, target)), soft_wrap=True)
        if patch is not None and patch.verification.status == "passed" and target.path:
            return HEALTHY
    code = EXIT_CODES.get(findings.verdict or "", COULD_NOT_TELL)
    return HEALTHY if options.lenient and code == COULD_NOT_TELL else code


def _worst(codes: list[int]) -> int:
    """Of several: found something, before could not tell, before healthy."""
    return next((code for code in (FOUND, COULD_NOT_TELL) if code in codes), HEALTHY)


@asynccontextmanager
async def tools(options: Options) -> AsyncIterator[tuple[Sandbox | None, Reader]]:
    """What diagnoses share: a sandbox, unless nothing is run, and a process that reads."""
    sandbox = None
    if options.run == "auto":
        from app.run.sandboxes import open_sandbox
        from app.settings import Settings

        sandbox = open_sandbox(Settings())
    CONSTS.sleep_unit = 0.01  # seconds; the pool's end waits for so long
    reader = Reader(workers=1, prepare=collect_rarely, context="fork")
    try:
        yield sandbox, reader
    finally:
        if sandbox is not None:
            await sandbox.close()
        await reader.close()


@contextmanager
def progress_on(console: Console) -> Iterator[ProgressLine]:
    """Progress where somebody watches; elsewhere what would draw it is not even imported."""
    if not console.is_terminal:
        yield ProgressLine(lambda told: None)
        return
    with console.status("Starting …") as status:
        yield ProgressLine(status.update)
