"""A git repository with a history, for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path


class GitRepository:
    """A repository in a folder, with a committer of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        """Run git; what it printed."""
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", "-C", str(self.folder), *who, *words],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, files: Mapping[str, str]) -> None:
        """Write files of the work tree."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, message: str, files: Mapping[str, str]) -> str:
        """Write and commit files; the hash."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")
