"""Findings for programs: JSON, Markdown, SARIF, annotations of a GitHub workflow."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.command.lines import Settled
from app.command.options import Form
from app.command.sarif import sarif_log
from app.present.share import findings_as_markdown
from app.present.visible import all_visible, escaped_json
from app.schemas import Cause, Findings


def rendered(form: Form, settled: Sequence[Settled]) -> str:
    """What was found about some scripts: JSON is always a list, an item for each script."""
    if form == "json":
        return escaped_json(json.dumps([*map(_json, settled)], indent=2, ensure_ascii=False))
    if form == "sarif":
        return escaped_json(json.dumps(sarif_log(settled), indent=2))
    shown = [one.findings for one in settled if not one.ignored]
    if form == "github":
        return "\n".join(line for findings in shown for line in workflow_commands(findings))
    return "\n".join(
        findings_as_markdown(Findings.model_validate(all_visible(findings.model_dump())))
        for findings in shown
    ).rstrip()


def _json(one: Settled) -> dict[str, object]:
    path, found = one.target.request.filename, one.findings.model_dump(mode="json")
    return {"path": path, "suppressed": one.ignored, **found}


def workflow_commands(findings: Findings) -> list[str]:
    """Workflow commands that mark the line of the cause in a pull request."""
    if not findings.causes:
        return []
    cause = findings.causes[0]
    level = "error" if findings.verdict == "confirmed" else "warning"
    at = cause.location
    fields = {"file": at.file, "line": str(at.line), "title": f"{cause.id}: {cause.title}"}
    given = ",".join(f"{name}={escaped(value, ':,')}" for name, value in fields.items())
    return [f"::{level} {given}::{escaped(_message(findings, cause))}"]


def _message(findings: Findings, cause: Cause) -> str:
    parts = [findings.summary or cause.title]
    parts += [f"\n{patch.diff}" for patch in findings.patches[:1]]
    return "\n".join(parts)


def escaped(text: str, further: str = "") -> str:
    """Text as workflow commands take it: what would end a value is written as %XX."""
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" or c in further else c for c in text)
