"""A diagnosis in the terminal: the same as the service's, with an embedded sandbox."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.status import Status
from rich.text import Text

from app import wording
from app.diagnose import diagnose
from app.intake import check
from app.manners.logs import configure
from app.problems import ProblemError
from app.reader import Reader
from app.sandboxes import open_sandbox
from app.schemas import Cause, DiagnosisRequest, Findings, Patch
from app.settings import Settings
from app.uploads import as_file
from app.visible import all_visible, escaped_json, visible

EXIT_CODES = {"healthy": 0, "confirmed": 1, "likely": 1}
COULD_NOT_TELL = 2
MARKS = {"passed": "[green]✓[/]", "failed": "[red]✗[/]", "not_run": "[yellow]–[/]"}
DIFF_STYLES = {"+": "green", "-": "red", "@": "dim"}


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    script: Path
    traceback: Path | None = None
    files: tuple[Path, ...] = ()
    args: tuple[str, ...] = ()
    module: str | None = None
    run: Literal["auto", "never"] = "auto"
    time_limit_s: float = 20
    json: bool = False
    apply: bool = False

    @property
    def root(self) -> Path:
        """The project's directory: the script's, unless it is run as a module or a further file
        lies outside; then the one that the command is given in."""
        home = self.script.parent.resolve()
        inside = all(path.resolve().is_relative_to(home) for path in self.files)
        return home if inside and self.module is None else Path.cwd()


class ProgressLine:
    """Progress on one line of the terminal."""

    def __init__(self, status: Status) -> None:
        self._status = status

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        counted = f" ({done}/{total})" if total > 1 else ""
        self._status.update(escape(visible(f"{message}{counted} …")))

    async def cause(self, cause: Cause) -> None:
        self._status.update(escape(f"Found {cause.pattern}, line {cause.location.line} …"))

    async def patch(self, patch: Patch) -> None:
        told = f"{wording.proof(patch).capitalize()}: {patch.title}. Looking for a better one …"
        self._status.update(escape(visible(told)))


async def diagnose_here(options: Options, settings: Settings) -> int:
    """Diagnose, print, apply; the exit code."""
    configure("warning", "console")
    messages = Console(stderr=True)
    try:
        request = check(_request(options))
    except ProblemError as problem:
        raise _refusal(problem.detail) from None
    with _progress(messages) as progress:
        findings = await _diagnose(request, progress, settings)
    if options.json:
        print(escaped_json(findings.model_dump_json(indent=2)))
    else:
        show(findings, Console())
    if options.apply:
        messages.print(_apply(findings, options))
    return EXIT_CODES.get(findings.verdict or "", COULD_NOT_TELL)


@contextmanager
def _progress(console: Console) -> Iterator[ProgressLine]:
    with console.status("Starting …") as status:
        yield ProgressLine(status)


async def _diagnose(
    request: DiagnosisRequest, progress: ProgressLine, settings: Settings
) -> Findings:
    sandbox = open_sandbox(settings) if request.run == "auto" else None
    reader = Reader()
    try:
        return await diagnose(request, sandbox=sandbox, reader=reader, progress=progress)
    finally:
        if sandbox is not None:
            await sandbox.close()
        await reader.close()


def _request(options: Options) -> DiagnosisRequest:
    standard_input = options.script == Path("-")
    files = [as_file(_relative(path, options), _bytes(path)) for path in options.files]
    return DiagnosisRequest(
        script=_text(options.script),
        filename="train.py" if standard_input else _relative(options.script, options),
        files=files,
        args=list(options.args),
        module=options.module,
        traceback=_text(options.traceback) if options.traceback else "",
        run=options.run,
        time_limit_s=options.time_limit_s,
    )


def _relative(path: Path, options: Options) -> str:
    """A file as the project knows it: relative to the project's directory."""
    root = options.root
    try:
        return path.resolve().relative_to(root).as_posix()
    except ValueError:
        raise _refusal(
            f"{path} lies outside the project's directory {root}; start from a directory that "
            "holds all of it."
        ) from None


def _text(path: Path) -> str:
    """A file's text with its line ends as they are."""
    if path == Path("-"):
        return typer.get_text_stream("stdin").read()
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refusal(f"{path} is not UTF-8 text (byte {error.start}).") from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _refusal(f"{path}: {(error.strerror or 'cannot be read').lower()}.") from None


def _mark(path: Path) -> bytes:
    """The byte order mark that the file begins with, if it does: it stays."""
    return BOM_UTF8 if path.read_bytes().startswith(BOM_UTF8) else b""


def _refusal(why: str) -> SystemExit:
    Console(stderr=True).print(f"[red]gradmend:[/] {escape(why)}", soft_wrap=True)
    return SystemExit(COULD_NOT_TELL)


def show(findings: Findings, console: Console) -> None:
    """Verdict, causes, and the best patch with its checks; nothing in them acts on a terminal."""
    findings = Findings.model_validate(all_visible(findings.model_dump()))
    console.print(f"[bold]{findings.verdict or 'no verdict'}[/]  {escape(findings.summary)}")
    for cause in findings.causes[:1]:
        console.print(f"\n[bold]{cause.pattern}[/]  {escape(cause.title)}  {_where(cause)}")
        console.print(Markdown(cause.explanation))
    for cause in findings.causes[1:]:
        console.print(f"[dim]less likely:[/] {cause.pattern}  {_where(cause)}")
    for patch in findings.patches[:1]:
        told = f"{wording.proof(patch)}; {wording.effect(patch)}"
        console.print(f"\n[bold]{escape(patch.title)}[/]  [dim]{escape(told)}[/]")
        for line in patch.diff.splitlines():
            console.print(Text(line, style=DIFF_STYLES.get(line[:1], "")), soft_wrap=True)
        for item in patch.verification.checks:
            console.print(f"  {MARKS[item.status]} {item.name}  [dim]{escape(item.detail)}[/]")
    if (more := len(findings.patches) - 1) > 0:
        console.print(f"[dim]{more} more in --json[/]")
    for assumed in findings.world:
        console.print(f"[dim]assumed:[/] {escape(assumed.text)}")
    for step in findings.next[:2]:
        console.print(f"[bold]next:[/] {escape(step.text)}")
        if step.value:
            console.print(f"  {escape(step.value)}", soft_wrap=True)


def _where(cause: Cause) -> str:
    place = f"{cause.location.file}:{cause.location.line}"
    return f"[dim]{escape(place)}  {cause.confidence:.0%}[/]"


def _apply(findings: Findings, options: Options) -> str:
    """Write the best patch over the files it changes; what was done, in a sentence."""
    best = next(iter(findings.patches), None)
    if best is None or best.verification.status != "passed":
        return "Nothing was changed: no patch passed its checks."
    if options.script == Path("-"):
        return "Nothing was changed: the script came from standard input."
    changed = {options.script: best.script}
    changed |= {options.root / file.path: file.content for file in best.files}
    written = []
    for path, text in changed.items():
        if _text(path) != text:
            path.write_bytes(_mark(path) + text.encode())
            written.append(str(path))
    return f"Changed {', '.join(written)}."
