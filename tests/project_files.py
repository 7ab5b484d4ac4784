"""The projects of `tests/projects.md`: several files, packages and data absent, one fault each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.schemas import DiagnosisRequest, SourceFile
from sandbox.protocol import Job
from tests.sheets import Section, sections

SHEET = Path(__file__).with_name("projects.md")


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


def load_projects(sheet: Path = SHEET) -> list[ProjectCase]:
    """Return every project of the sheet, in its order."""
    return [_load(section) for section in sections(sheet.read_text("utf-8"))]


def _load(section: Section) -> ProjectCase:
    label, *files = section.blocks
    texts = {block.name: block.text for block in files}
    absent = [name.removeprefix("proof/") for name in texts if name.startswith("proof/")]
    return ProjectCase(
        name=section.title,
        files={name: text for name, text in texts.items() if not name.startswith("proof/")},
        completing={name: texts[f"proof/{name}"] for name in absent},
        label=tomllib.loads(label.text),
    )
