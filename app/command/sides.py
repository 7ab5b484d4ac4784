"""The two versions of a script that the command line names: files, or paths in git revisions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from app.change_schemas import ChangeRequest, ProjectVersion, VerificationRequest
from app.command.gathering import Gathered, gather
from app.command.options import BadInput, Options
from app.command.project import target_of, text_of
from app.command.revisions import Repository
from app.http.problems import ProblemError
from app.request.change_versions import resolved
from app.schemas import DiagnosisRequest, SourceFile


class NoSuchFile(BadInput):
    """The revision has no file of this name."""


@dataclass(frozen=True)
class Comparison:
    """What the command line asks for. `before` and `after` are files, or `REV:path`; with
    `revision`, `before` is that file in it, and `after` the file as it is now."""

    before: str
    after: str | None
    patch: Path | None
    revision: str | None
    options: Options
    steps: int | None = None

    def request(self) -> ChangeRequest:
        """Read both versions with what they import. Raises `BadInput`."""
        with ExitStack() as opened:
            try:
                return self._request(opened)
            except ProblemError as problem:
                raise BadInput(problem.detail) from None

    def _request(self, opened: ExitStack) -> ChangeRequest:
        before = f"{self.revision}:{self.before}" if self.revision else self.before
        old = _side(before, self.options, opened)
        if self.patch is not None:
            return patched(old, text_of(self.patch), self.steps)
        new = _side(self.after or self.before, self.options, opened)
        return ChangeRequest(
            before=ProjectVersion.of(old),
            after=ProjectVersion.of(new),
            traceback=old.traceback,
            args=list(self.options.args),
            module=self.options.module,
            time_limit_s=self.options.time_limit_s,
            steps=self.steps,
            torch=old.torch,
        )


def patched(old: DiagnosisRequest, patch: str, steps: int | None) -> ChangeRequest:
    """Return a project, and what a patch makes of it. Raises `ProblemError`."""
    sent = VerificationRequest(
        before=old.script,
        files_before=old.files,
        filename=old.filename,
        patch=patch,
        args=old.args,
        module=old.module,
        traceback=old.traceback,
        time_limit_s=old.time_limit_s,
        steps=steps,
        torch=old.torch,
    )
    return resolved(sent)


def _side(named: str, options: Options, opened: ExitStack) -> DiagnosisRequest:
    revision, colon, path = named.partition(":")
    if not colon or Path(named).exists():
        return target_of(Path(named), options).request
    repository = Repository.of(_start(Path(path)))
    folder = opened.enter_context(TemporaryDirectory(prefix="gradmend-"))
    tree = Path(folder).resolve()
    repository.extract(revision, tree)
    script = _found(path, tree, repository)
    if script is None:
        raise NoSuchFile(f"{path}: there is no such file in {revision}.")
    return _in_tree(script, tree, repository, options)


def _start(path: Path) -> Path:
    """The directory that a script is started in: the working directory, where it holds it."""
    here = Path.cwd()
    outside = path.is_absolute() and not path.resolve().is_relative_to(here)
    return path.resolve().parent if outside else here


def _found(path: str, tree: Path, repository: Repository) -> Path | None:
    """A path seen from the working directory, as a command line gives it, or from the top, as git
    spells it; or an absolute one."""
    if Path(path).is_absolute() and Path(path).resolve().is_relative_to(repository.top):
        path = str(Path(path).resolve().relative_to(repository.top))
    for place in (tree / repository.here / path, tree / path):
        inside = place.resolve().is_relative_to(tree)
        if inside and place.is_file():
            return place.resolve()
    return None


def _in_tree(
    script: Path, tree: Path, repository: Repository, options: Options
) -> DiagnosisRequest:
    """The script of a revision, with its imports from there; data that git does not keep come from
    the work tree, as they would where the revision is checked out."""
    here = tree / repository.here
    root = here if script.is_relative_to(here) else script.parent
    target = target_of(script, replace(options, files=()), root=root)
    files = {file.path: file for file in target.request.files}
    work = repository.top / root.relative_to(tree)
    for file in _untracked(target.request, work, repository, options):
        files.setdefault(file.path, file)
    return target.request.model_copy(update={"files": list(files.values())})


def _untracked(
    request: DiagnosisRequest, work: Path, repository: Repository, options: Options
) -> Iterator[SourceFile]:
    if not work.is_dir():
        return
    placed = work / request.filename
    found: Gathered = gather(placed, request.script, work, args=options.args)
    tracked = repository.tracked()
    for path, origin in found.origin.items():
        if origin.resolve() not in tracked and path != request.filename:
            yield found.files[path]
