"""What is diagnosed: a script on the disk, or from standard input, with what goes along."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from app.command.gathering import Gathered, gather
from app.command.options import STANDARD_INPUT, BadInput, Options, UnreadableError
from app.http.problems import ProblemError, stated
from app.request.launch import paths_of
from app.request.limits import check
from app.request.uploads import as_file, decoded, texts_of
from app.schemas import DiagnosisRequest, Patch


@dataclass(frozen=True)
class Target:
    """A request, and where its files are; `path` is None for standard input."""

    request: DiagnosisRequest
    path: Path | None
    gathered: Gathered

    def sources(self) -> dict[str, str]:
        """The texts of the project by their paths, as they were sent."""
        return {**texts_of(self.request.files), self.request.filename: self.request.script}

    def changed(self, patch: Patch) -> Iterator[tuple[Path, str]]:
        """The files that a patch changes, on the disk, with their new texts."""
        if self.path is not None:
            yield self.path, patch.script
        for file in patch.files:
            if file.path != self.request.filename:
                yield self.gathered.origin[file.path], file.content


def target_of(
    path: Path,
    options: Options,
    traceback: str = "",
    root: Path | None = None,
    text: str | None = None,
) -> Target:
    """Read a script and its project, which begins at `root`; by default where the script is
    started. `text` is that of an editor, which the disk does not hold yet. Raises `BadInput` for
    what cannot be read or sent."""
    if path == STANDARD_INPUT:
        text = _decoded("standard input", sys.stdin.buffer.read())
        name = "train.py" if options.module else options.stdin_filename
        return pasted(text, options, traceback, name)
    text = text_of(path) if text is None else text
    return _target(path, text, root or _root(path, options), options, traceback)


def pasted(text: str, options: Options, traceback: str = "", name: str = "train.py") -> Target:
    """The same for a script that has no file; what it imports lies in the working directory."""
    return _target(None, text, Path.cwd(), options, traceback, name)


def _target(
    path: Path | None, text: str, root: Path, options: Options, traceback: str, name: str = ""
) -> Target:
    script = path or root / name
    try:
        gathered = gather(script, text, root, args=options.args, data=options.run == "auto")
        for file in options.files:
            placed = _relative(file, root)
            gathered.files[placed] = as_file(placed, _bytes(file))
            gathered.origin[placed] = file
        error = traceback or (text_of(options.traceback) if options.traceback else "")
        empty = path is not None and not (text.strip() or error.strip())
        nothing = not text.strip() or (not error and _is_broken(script, text, gathered))
        request = DiagnosisRequest(
            script=text,
            filename=_relative(script, root),
            files=list(gathered.files.values()),
            args=list(options.args),
            module=options.module,
            traceback=error,
            run="never" if nothing else options.run,
            time_limit_s=options.time_limit_s,
            torch=options.torch if options.server else None,
        )
        return Target(request if empty else check(request), path, gathered)
    except ProblemError as problem:
        raise UnreadableError(_in_file(problem, path)) from None
    except ValidationError as error:
        problems = ((each["loc"], each["msg"]) for each in error.errors())
        raise BadInput(
            "; ".join(f"{'.'.join(map(str, at))}: {why}" for at, why in problems)
        ) from None


def _in_file(problem: ProblemError, path: Path | None) -> str:
    """Return what is wrong, with the script by its path."""
    first = (problem.errors or [{}])[0]
    if path is None or first.get("field") != "script":
        return problem.detail
    return f"{stated(str(path), first['message'])}."


def _is_broken(script: Path, text: str, gathered: Gathered) -> bool:
    """Return True if Python would refuse a script for a syntax error, so that none of it runs. A
    paste is no script, and is converted.
    """
    if not gathered.unread or script.suffix not in (".py", ""):
        return False
    from analyzers.paste import legible
    from analyzers.request.syntax import syntax_fault

    converted = legible(text)
    return converted is not None and syntax_fault(converted) is not None


def module_file(module: str) -> Path:
    """The file of a module that is started by `-m`, seen from the working directory."""
    for place in paths_of(module):
        if Path(place).is_file():
            return Path(place)
    raise BadInput(f"There is no module {module} here; start from the project's directory.")


def _root(path: Path, options: Options) -> Path:
    """The directory that the script is started in: the working directory, where it holds the
    script; a notebook starts in its own."""
    here = Path.cwd()
    if options.module is not None:
        return here
    home = path.resolve().parent
    return here if home.is_relative_to(here) and path.suffix != ".ipynb" else home


def _relative(path: Path, root: Path) -> str:
    """A file as the project knows it: relative to the project's directory."""
    for spelled in (path.absolute(), path.resolve()):
        if spelled.is_relative_to(root):
            return spelled.relative_to(root).as_posix()
    raise BadInput(
        f"{path} lies outside the project's directory {root}; start from a directory that holds "
        "all of it."
    )


def text_of(path: Path) -> str:
    """A file's text with its line ends as they are."""
    return _decoded(str(path), _bytes(path))


def _decoded(name: str, data: bytes) -> str:
    try:
        return decoded(name, data)
    except ProblemError as problem:
        raise UnreadableError(problem.detail) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or 'cannot be read').lower()}.") from None
