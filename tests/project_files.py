"""The projects under `tests/projects`: several files, packages and data absent, one fault each.

`project.toml` names the entry, the patterns that are right answers (none: it is healthy) and the
error. What lies in `proof/` takes the place of what is absent: with it, a plain run raises.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.schemas import DiagnosisRequest, SourceFile
from sandbox.protocol import Job

ROOT = Path(__file__).parent / "projects"


@dataclass(frozen=True)
class ProjectCase:
    """One project with its label."""

    name: str
    files: dict[str, str]
    completing: dict[str, str]
    label: dict[str, Any]

    @property
    def patterns(self) -> tuple[str, ...]:
        """The right answers; none for a healthy project."""
        return tuple(self.label["patterns"])

    @property
    def raises(self) -> str:
        """A part of the error's message; empty where nothing is raised."""
        return str(self.label["raises"])

    def request(self) -> DiagnosisRequest:
        """The project as somebody sends it, without its traceback."""
        entry = str(self.label["entry"])
        files = [SourceFile(path=p, content=t) for p, t in self.files.items() if p != entry]
        return DiagnosisRequest(
            script=self.files[entry],
            filename=entry,
            files=files,
            module=self.label.get("module"),
        )

    def proof(self) -> Job:
        """A plain run of the completed project."""
        proof = self.label.get("proof", {})
        files = dict(self.files)
        for old, new in proof.get("replace", []):
            files = {path: text.replace(old, new) for path, text in files.items()}
        return Job(
            files=files | self.completing,
            entry=str(self.label["entry"]),
            module=self.label.get("module"),
            argv=proof.get("args", []),
            mode="plain",
        )


def load_projects(root: Path = ROOT) -> list[ProjectCase]:
    """Every project, sorted by name."""
    return [_load(path) for path in sorted(root.iterdir()) if path.is_dir()]


def _load(path: Path) -> ProjectCase:
    label = tomllib.loads((path / "project.toml").read_text())
    texts = {
        file.relative_to(path).as_posix(): file.read_text()
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name != "project.toml" and "__pycache__" not in file.parts
    }
    completing = {n.removeprefix("proof/"): t for n, t in texts.items() if n.startswith("proof/")}
    files = {name: text for name, text in texts.items() if not name.startswith("proof/")}
    return ProjectCase(path.name, files, completing, label)
