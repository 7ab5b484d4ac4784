"""Findings in the terms of the Language Server Protocol: what is underlined, and what fixes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from analyzers.source.linediff import opcodes
from app.command.lines import titled
from app.command.project import Target
from app.present.columns import columns_of
from app.present.fix_wording import effect, level_and_proof
from app.present.guide import page_of
from app.present.story import notes
from app.present.suppressions import is_ignored, is_marked
from app.schemas import Cause, Findings, Location, Patch

SOURCE = "gradmend"
_ONLY_READ = "\nThis comes from reading the source; it was not run."
SEVERITY = {
    "confirmed": types.DiagnosticSeverity.Error,
    "likely": types.DiagnosticSeverity.Warning,
}


@dataclass(frozen=True)
class DocumentFindings:
    """What was found about a document as it was in `version`."""

    uri: str
    version: int | None
    target: Target
    findings: Findings
    ignore: tuple[str, ...] = ()

    @property
    def cause(self) -> Cause | None:
        """Return the first cause, unless its author suppresses it."""
        for cause in self.findings.causes[:1]:
            hidden = is_ignored(cause, self.ignore) or is_marked(cause, self.target.sources())
            return None if hidden else cause
        return None

    def uri_of(self, path: str) -> str:
        """Return the URI of a file of the project."""
        if path == self.target.request.filename:
            return self.uri
        origin = self.target.gathered.origin.get(path)
        return (origin or Path(path)).resolve().as_uri()


def diagnostics(seen: DocumentFindings) -> list[types.Diagnostic]:
    """Return what is to be underlined in the document: a fault, or a syntax error."""
    error = seen.findings.error
    if error is not None and error.exception == "SyntaxError" and error.location is not None:
        return []  # the editor's own Python says so already
    cause = seen.cause
    if cause is None or cause.location.file != seen.target.request.filename:
        return []
    only_read = _ONLY_READ if cause.source == "reading" else ""
    return [
        types.Diagnostic(
            range=_range(cause, seen.target.sources()),
            message=f"{titled(cause)}\n{cause.explanation}{only_read}",
            severity=SEVERITY.get(seen.findings.verdict or "", types.DiagnosticSeverity.Hint),
            code=cause.id,
            code_description=types.CodeDescription(href=page_of(cause.id)),
            source=SOURCE,
            related_information=[
                types.DiagnosticRelatedInformation(location=_location(event, seen), message=note)
                for event, note in notes(cause)
            ],
        )
    ]


def actions(seen: DocumentFindings) -> Iterator[types.CodeAction]:
    """Return the fixes that failed no check, the first safe one preferred."""
    found = diagnostics(seen)
    preferred = next((patch.n for patch in seen.findings.patches if patch.level == "safe"), 0)
    for patch in seen.findings.patches if found else []:
        if patch.verification.status != "failed":
            yield types.CodeAction(
                title=f"{patch.title.replace('`', '')} ({level_and_proof(patch)}; {effect(patch)})",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=found,
                is_preferred=patch.n == preferred,
                edit=_edit(patch, seen),
            )


def _edit(patch: Patch, seen: DocumentFindings) -> types.WorkspaceEdit:
    before = seen.target.sources()
    after = {seen.target.request.filename: patch.script, **{f.path: f.content for f in patch.files}}
    return types.WorkspaceEdit(
        changes={
            seen.uri_of(path): list(_edits(before.get(path, ""), text))
            for path, text in after.items()
            if before.get(path) != text
        }
    )


def _edits(before: str, after: str) -> Iterator[types.TextEdit]:
    """Yield replacements of whole lines."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for kind, start, end, first, last in opcodes(old, new):
        if kind != "equal":
            place = types.Range(types.Position(start, 0), types.Position(end, 0))
            yield types.TextEdit(place, "".join(new[first:last]))


def _range(cause: Cause, sources: Mapping[str, str]) -> types.Range:
    lines = sources.get(cause.location.file, "").splitlines()
    at = max(cause.location.line - 1, 0)
    line = lines[at] if at < len(lines) else ""
    first, end = columns_of(cause, line)
    return types.Range(
        types.Position(at, _units(line[: first - 1])), types.Position(at, _units(line[: end - 1]))
    )


def _units(text: str) -> int:
    """Return the number of UTF-16 units of a text, in which the protocol counts."""
    return len(text.encode("utf-16-le")) // 2


def _location(spot: Location, seen: DocumentFindings) -> types.Location:
    line = max(spot.line - 1, 0)
    place = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    return types.Location(seen.uri_of(spot.file), place)
