"""The tree of a git revision, put on the disk for as long as it is read."""

from __future__ import annotations

import contextlib
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from app.command.options import BadInput
from app.request.uploads import FILES_LIMIT

GIT_S = 60.0


@dataclass(frozen=True)
class Repository:
    """A work tree: its top folder, and where the working directory lies in it."""

    top: Path
    here: Path

    @classmethod
    def of(cls, folder: Path) -> Repository:
        """Return the repository that holds a folder. Raises `BadInput` where none does."""
        top = Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip()).resolve()
        return cls(top, folder.resolve().relative_to(top))

    def commit(self, revision: str) -> str:
        """Return a revision's full hash. Raises `BadInput` where there is no such revision."""
        wanted = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        try:
            return _git(self.top, *wanted).decode().strip()
        except BadInput:
            raise BadInput(f"{revision}: git knows no such revision.") from None

    def extract(self, revision: str, folder: Path) -> None:
        """Write the tree of a revision into a folder, without what is larger than any file that
        can be sent, and without links that lead out of it."""
        command = ["git", "-C", str(self.top), "archive", "--format=tar", self.commit(revision)]
        unreadable = BadInput(f"{revision}: git cannot read its tree.")
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
            _opened(process, unreadable) as archive,
        ):
            for member in archive:
                if member.size <= FILES_LIMIT:
                    with contextlib.suppress(tarfile.FilterError):
                        archive.extract(member, folder, filter="data")
        if process.returncode:
            raise unreadable

    def changed(self, base: str, head: str) -> list[str]:
        """Return the paths that differ between two revisions' trees."""
        commits = (self.commit(base), self.commit(head))
        output = _git(self.top, "diff", "--name-only", "--no-renames", "-z", *commits)
        return [name for name in output.decode().split("\0") if name]

    def fetched(self, commit: str) -> str:
        """Return a commit's hash, fetched where the checkout is too shallow to have it."""
        with contextlib.suppress(BadInput):
            return self.commit(commit)
        with contextlib.suppress(BadInput):
            _git(self.top, "fetch", "-q", "--depth=1", "origin", "--", commit)
            return self.commit(commit)
        raise BadInput(
            f"The commit {commit[:12]} is not in this checkout: give actions/checkout "
            "`fetch-depth: 0`."
        )

    def merge_base(self, one: str, other: str) -> str:
        """Return the revision at which two histories parted; the first one where they never met."""
        commits = (self.commit(one), self.commit(other))
        try:
            return _git(self.top, "merge-base", *commits).decode().strip()
        except BadInput:
            return commits[0]

    def tracked(self) -> set[Path]:
        """Return the files that git keeps in the work tree."""
        output = _git(self.top, "ls-files", "-z").decode()
        return {self.top / name for name in output.split("\0") if name}


def _opened(process: subprocess.Popen[bytes], otherwise: BadInput) -> tarfile.TarFile:
    """What `git archive` writes, read as it comes."""
    try:
        return tarfile.open(fileobj=process.stdout, mode="r|")
    except tarfile.TarError:
        raise otherwise from None


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, timeout=GIT_S, check=True
        )
    except FileNotFoundError:
        raise BadInput("git is not installed here; give two files instead.") from None
    except subprocess.TimeoutExpired:
        raise BadInput(f"git {words[0]} did not end within {GIT_S:g} s.") from None
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise BadInput(f"git {words[0]}: {why or 'failed'}.") from None
    return done.stdout
