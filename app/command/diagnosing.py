"""Diagnoses in the terminal: the same as the service's, with an embedded sandbox, or by a service
that runs already."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from pebble import CONSTS
from rich.console import Console
from rich.markup import escape

from app.command.choosing import scripts_of
from app.command.fixing import best, chosen, why_none, written
from app.command.forms import told
from app.command.lines import Settled, is_clean, line_of, summary_of
from app.command.options import COULD_NOT_TELL, FOUND, HEALTHY, Options
from app.command.project import Target, module_file, target_of
from app.command.showing import show, show_diff
from app.diagnose import Progress, diagnose
from app.present import wording
from app.present.suppressions import is_ignored, is_marked
from app.present.visible import visible
from app.request.reader import Reader, collect_rarely
from app.schemas import Cause, DiagnosisRequest, Findings, Patch
from gradmend.installing import pip_install
from sandbox.protocol import Sandbox

if TYPE_CHECKING:
    from app.assistant import Assistant

EXIT_CODES = {"healthy": HEALTHY, "confirmed": FOUND, "likely": FOUND}


class Diagnoser(Protocol):
    """Diagnose one request."""

    async def __call__(self, request: DiagnosisRequest, *, progress: Progress) -> Findings: ...


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
    messages = Console(stderr=True, highlight=False)
    options = _without_torch(options, messages)
    targets = [target_of(path, options) for path in scripts_of(paths, options.exclude)]
    for name in sorted({name for target in targets for name in target.gathered.left_out}):
        messages.print(f"[yellow]left out:[/] {escape(name)} (no more fits into one request)")
    output = Console(highlight=False)
    whole = options.verbose or (len(targets) == 1 and output.is_terminal)
    settled: list[Settled] = []
    async with _diagnosing(options, messages) as ask:
        for target in targets:
            with progress_on(messages) as progress:
                findings = await ask(target.request, progress=progress)
            settled.append(_settled(target, findings, options, messages))
            if options.form == "text" and not options.diff:
                _tell(settled[-1], options, output, whole=whole)
    if options.form != "text" and not options.diff:
        print(told(options.form, settled))
    elif not options.diff and not options.quiet:
        output.print(escape(summary_of(settled, options)), soft_wrap=True)
    return _worst([one.code for one in settled])


@asynccontextmanager
async def _diagnosing(options: Options, messages: Console) -> AsyncIterator[Diagnoser]:
    """What diagnoses: the server that is named, which is said, or else this process."""
    if options.server:
        from app.command.remote import server_at

        messages.print(escape(f"Asking {options.server}."), soft_wrap=True)
        async with server_at(options.server) as server:
            yield server.diagnose
        return
    assistant = asked_too(messages) if options.run == "auto" else None
    async with tools(options) as (sandbox, reader):
        yield partial(diagnose, sandbox=sandbox, reader=reader, assistant=assistant)


def asked_too(messages: Console) -> Assistant | None:
    """The assistant that the environment names, which is said: it gets the script."""
    from app.assistant import assistant_of
    from app.settings import Settings

    found = assistant_of(Settings())
    if found is not None:
        messages.print(
            f"Where no fix of ours is safe, the script is sent to the assistant at "
            f"{escape(found.host)} (GRADMEND_ASSISTANT_URL).",
            soft_wrap=True,
        )
    return found


def _without_torch(options: Options, messages: Console) -> Options:
    """Where PyTorch is not installed, scripts can only be read: said once, with what to do."""
    if options.run == "never" or options.server or find_spec("torch") is not None:
        return options
    named = next((str(path) for path in options.paths if path.is_file()), "train.py")
    messages.print(
        "PyTorch is not installed here, so scripts are only read. Install it with: "
        f"{escape(pip_install('sandbox'))}; or run `gradmend run -- python {escape(named)}` where "
        "your PyTorch is.",
        soft_wrap=True,
    )
    return replace(options, run="never")


def _tell(one: Settled, options: Options, output: Console, *, whole: bool) -> None:
    """A script's findings: whole where one was asked about or all is wanted, else in a line."""
    if whole and not (one.ignored or (is_clean(one) and len(options.paths) > 1)):
        show(one.findings, output, apply=_how_to_apply(one), verbose=options.verbose)
    elif line := line_of(one):
        output.print(escape(line), soft_wrap=True)


def _how_to_apply(one: Settled) -> str:
    """The command that writes the best fix; empty where there is none to write."""
    patch = best(one.findings.patches, unsafe=True)
    if patch is None or one.target.path is None or one.fixed:
        return ""
    return f"gradmend {one.target.path} --fix{'' if patch.level == 'safe' else ' --unsafe-fixes'}"


def _settled(target: Target, findings: Findings, options: Options, messages: Console) -> Settled:
    """Show or write the fix of a script, where one was asked for; what came out."""
    cause = findings.causes[0] if findings.causes else None
    if cause is not None and (
        is_ignored(cause, options.ignore) or is_marked(cause, target.sources())
    ):
        return Settled(target, findings, HEALTHY, ignored=True)
    code = EXIT_CODES.get(findings.verdict or "", COULD_NOT_TELL)
    patch = chosen(findings, options)
    if options.diff:
        if patch is not None:
            show_diff(patch.diff, Console(highlight=False))
        else:
            messages.print(escape(f"No diff: {why_none(findings, options)}."), soft_wrap=True)
    elif options.fix:
        if patch is not None or cause is not None:
            done = written(findings, patch, target, options)
            messages.print(escape(f"{target.request.filename}: {done}"), soft_wrap=True)
        if patch is not None and patch.verification.status == "passed" and target.path:
            return Settled(target, findings, HEALTHY, fixed=True)
    lenient = options.lenient and code == COULD_NOT_TELL
    return Settled(target, findings, HEALTHY if lenient else code)


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
