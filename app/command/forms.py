"""Findings for programs: JSON, Markdown, SARIF, annotations of a GitHub workflow."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.command.options import Form
from app.command.project import Target
from app.command.sarif import sarif_log
from app.present.share import findings_as_markdown
from app.present.visible import all_visible, escaped_json
from app.schemas import Cause, Findings

Found = Sequence[tuple[Target, Findings]]


def told(form: Form, found: Found, *, single: bool) -> str:
    """What was found about some scripts. JSON of a `single` one is its findings; of several, a
    list of them, each with its `path`."""
    if form == "json":
        return escaped_json(_json(found, single))
    if form == "sarif":
        log = sarif_log([(target.request, findings) for target, findings in found])
        return escaped_json(json.dumps(log, indent=2))
    if form == "github":
        return "\n".join(line for _, findings in found for line in workflow_commands(findings))
    return "\n".join(
        findings_as_markdown(Findings.model_validate(all_visible(findings.model_dump())))
        for _, findings in found
    ).rstrip()


def _json(found: Found, single: bool) -> str:
    if single:
        return found[0][1].model_dump_json(indent=2)
    each = [
        {"path": target.request.filename, **findings.model_dump(mode="json")}
        for target, findings in found
    ]
    return json.dumps(each, indent=2, ensure_ascii=False)


def workflow_commands(findings: Findings) -> list[str]:
    """Workflow commands that mark the line of the cause in a pull request."""
    if not findings.causes:
        return []
    cause = findings.causes[0]
    level = "error" if findings.verdict == "confirmed" else "warning"
    at = cause.location
    fields = {"file": at.file, "line": str(at.line), "title": f"Gradmend: {cause.title}"}
    given = ",".join(f"{name}={escaped(value, ':,')}" for name, value in fields.items())
    return [f"::{level} {given}::{escaped(_message(findings, cause))}"]


def _message(findings: Findings, cause: Cause) -> str:
    parts = [findings.summary or cause.title]
    parts += [f"\n{patch.diff}" for patch in findings.patches[:1]]
    return "\n".join(parts)


def escaped(text: str, further: str = "") -> str:
    """Text as workflow commands take it: what would end a value is written as %XX."""
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" or c in further else c for c in text)
