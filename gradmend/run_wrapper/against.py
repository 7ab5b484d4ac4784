"""`gradmend run --against REV -- COMMAND`: the same command with the sources of a git revision, and
with those of the work tree; with the user's own data, packages and devices.

Every run is made as repeated runs are: sources in memory, and no file of the user's is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from app.change_schemas import ChangeFindings, ChangeRequest, ProjectVersion
from app.command.options import USAGE, BadInput
from app.command.revisions import Repository
from app.command.verdicts import printed
from app.command.verifying import exit_code
from app.http.problems import ProblemError
from app.request.reader import InlineReader
from app.request.uploads import decoded
from app.verify import Version, verify
from gradmend.run_wrapper import user_command
from gradmend.run_wrapper.cli_args import RunArguments
from gradmend.run_wrapper.exchange_dir import ExchangeDir, Process
from gradmend.run_wrapper.progress import ProgressLine
from gradmend.run_wrapper.rerun import Again
from gradmend.run_wrapper.starting import end, furnish, start_fresh, why_no_rerun
from gradmend.run_wrapper.stderr import note

STEPS = 20
LIMIT_S = 24 * 3600.0  # whoever waits can end it; steps are what is counted
FIRST_S = 600.0  # until the command has made its first step
LARGEST = 1 << 20  # bytes of a file that is read from memory


@dataclass(frozen=True)
class Sources:
    """The texts of both versions by name, and where each file is."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    places: Mapping[str, str]

    @property
    def differ(self) -> bool:
        """Return True if there is anything to compare."""
        return self.before != self.after


def compare(arguments: RunArguments) -> int:
    """Compare the work tree with a revision, print the verdict, and return the exit code."""
    if why_not := why_no_rerun(arguments):
        note(why_not)
        return USAGE
    try:
        return asyncio.run(_compared(arguments))
    except BadInput as bad:
        note(str(bad))
        return USAGE
    except (KeyboardInterrupt, asyncio.CancelledError):
        note("stopped; nothing was compared")
        return 130


async def _compared(arguments: RunArguments) -> int:
    assert arguments.against is not None
    repository = Repository.of(Path.cwd())
    repository.commit(arguments.against)  # before anything runs
    progress = ProgressLine()
    async with progress.ticking():
        progress.show("Running the command up to its first step", 0, 1)
        first = await _first(arguments)
        sources = await asyncio.to_thread(_sources, first, repository, arguments.against)
        entry = first.main or ""
        if entry not in sources.after:
            entry = next(iter(sources.after), "main.py")
        found = (
            await _found(arguments, first, sources, entry, progress)
            if sources.differ
            else _equal(arguments.against)
        )
    request = ChangeRequest(
        before=ProjectVersion(filename=entry, script=sources.before.get(entry, "")),
        after=ProjectVersion(filename=entry, script=sources.after.get(entry, "")),
    )
    printed("json" if arguments.json else "text", request, found)
    return exit_code(found)


def _equal(revision: str) -> ChangeFindings:
    summary_text = f"Nothing was run: no file that the command loads differs from {revision}."
    return ChangeFindings(verdict="same", summary=summary_text)


async def _first(arguments: RunArguments) -> Process:
    """Return the command's process that trains, from a run up to its first step.

    Raise `BadInput` if none imports torch.
    """
    box = ExchangeDir({})
    try:
        furnish(box, {"mode": "trace", "gradients": False, "stop_after_steps": 1, "silent": False})
        try:
            run = start_fresh(box.path, arguments.command)
        except OSError as error:
            raise BadInput(
                f"{arguments.command[0]}: {(error.strerror or 'failed').lower()}"
            ) from None
        try:
            async with asyncio.timeout(FIRST_S):
                code = await run.wait()
        except TimeoutError:
            raise BadInput(f"the command made no step within {FIRST_S:g} s") from None
        finally:
            await end(run)
        found = box.processes()
        if not found:
            raise BadInput(_why_none(code, box))
        return next((one for one in found if b'{"t":"backward"' in one.records), found[0])
    finally:
        box.close()


def _why_none(code: int, box: ExchangeDir) -> str:
    if code in (user_command.NOT_FOUND, user_command.NOT_RUNNABLE):
        return "there is no such command, or it cannot be run"
    if troubles := box.troubles():
        return f"not traced: {troubles[0]}"
    tail = (box.path / "err").read_text("utf-8", "replace").strip().rpartition("\n")[2]
    return f"no Python of this command imported torch: {tail or f'exit code {code}'}"


def _sources(first: Process, repository: Repository, revision: str) -> Sources:
    """Return what the command loaded, and every other text in git that differs.

    The old version may load what the new one does not.
    """
    with TemporaryDirectory(prefix="gradmend-") as folder:
        tree = Path(folder).resolve()
        repository.extract(revision, tree)
        return _between(first, repository, tree)


def _between(first: Process, repository: Repository, tree: Path) -> Sources:
    places = {name: path for name, path in first.files.items() if _text(Path(path)) is not None}
    known = {str(Path(path).resolve()) for path in places.values()}
    for path in sorted(repository.tracked()):
        old = tree / path.relative_to(repository.top)
        if str(path.resolve()) not in known and _differs(path, old):
            places[_name(path)] = str(path)
    after = {name: _text(Path(path)) or "" for name, path in places.items()}
    before = dict(after)
    for name, place in places.items():
        path = Path(place).resolve()
        if path.is_relative_to(repository.top):
            text = _text(tree / path.relative_to(repository.top))
            before[name] = after[name] if text is None else text
    return Sources(before, after, places)


def _name(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _differs(path: Path, old: Path) -> bool:
    now, then = _text(path), _text(old)
    return now is not None and then is not None and now != then


def _text(path: Path) -> str | None:
    """Return a file's text; None if it is none, or too long to be held in memory."""
    with suppress(OSError, ProblemError):
        if path.is_file() and path.stat().st_size <= LARGEST:
            data = path.read_bytes()
            return decoded(path.name, data) if b"\0" not in data else None
    return None


async def _found(
    arguments: RunArguments, first: Process, sources: Sources, entry: str, progress: ProgressLine
) -> ChangeFindings:
    async def stage(stage: str, done: int, total: int, message: str) -> None:
        progress.show(message, done, total)

    process = replace(first, files=dict(sources.places))
    again = Again(arguments.command, process, None, sources.after)
    again.begin()
    try:
        verdict = await verify(
            Version(sources.before, entry),
            Version(sources.after, entry),
            again,
            time_limit_s=LIMIT_S,
            steps=arguments.steps or STEPS,
            progress=stage,
            reader=InlineReader(),
        )
    finally:
        await again.close()
    found = ChangeFindings(**dict(verdict))
    found.notes += list(_noted(again))
    return found


def _noted(again: Again) -> Iterator[str]:
    yield f"run with your own data and packages, {again.runs} times"
    yield from sorted(again.troubles)[:1]
