"""The verdict on a change, for people in a terminal and for programs."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.markup import escape

from app.change_schemas import ChangeFindings, ChangeRequest
from app.command.forms import escaped
from app.command.options import Form
from app.command.sarif import sarif_of
from app.present import changes
from app.present.visible import all_visible, escaped_json

MARKS = {
    "same": "[bold green]✓",
    "truncated": "[bold yellow]~",
    "changed": "[bold red]✗",
    "breaks": "[bold red]✗",
    "not_comparable": "[bold]?",
}
LEVELS = {
    "truncated": "notice",
    "changed": "warning",
    "breaks": "error",
    "not_comparable": "notice",
}
SARIF_LEVELS = {"notice": "note", "warning": "warning", "error": "error"}
RULES = {
    "truncated": "The gradients are truncated",
    "changed": "The change alters the training",
    "breaks": "The change breaks the training",
    "not_comparable": "The training could not be compared",
}


def printed(form: Form, request: ChangeRequest, found: ChangeFindings) -> None:
    """Print a verdict in the form that was asked for."""
    if form == "text":
        show(request, found, Console(highlight=False, soft_wrap=True))
    else:
        print(rendered(form, request, found))


def rendered(form: Form, request: ChangeRequest, found: ChangeFindings) -> str:
    """Return a verdict for programs."""
    if form == "json":
        return escaped_json(found.model_dump_json(indent=2))
    if form == "sarif":
        return escaped_json(json.dumps(sarif_log([(request, found)]), indent=2))
    if form == "github":
        return "\n".join(workflow_commands(request, found))
    return changes.change_as_markdown(_harmless(found)).rstrip()


def show(request: ChangeRequest, found: ChangeFindings, console: Console) -> None:
    """Print the verdict, the first difference, and the notes; nothing in them acts on a
    terminal."""
    found = _harmless(found)
    mark = MARKS.get(found.verdict or "", "[bold]?")
    name = f"{request.after.filename}:"
    named = found.summary if found.summary.startswith(name) else f"{name} {found.summary}"
    console.print(f"{mark} {changes.WORDS[found.verdict]}[/]  {escape(named)}")
    for side, place in changes.places(found.witness) if found.witness else ():
        console.print(f"  {side}: {escape(place)}")
    for note in found.notes:
        console.print(f"  [dim]note:[/] {escape(note)}")
    if found.better is not None:
        console.print(f"  {escape(changes.better_line(found))}")


def workflow_commands(request: ChangeRequest, found: ChangeFindings) -> list[str]:
    """Return workflow commands that mark the line where the training differs first."""
    if found.verdict in (None, "same"):
        return []
    line = found.witness.line_after if found.witness else None
    fields = {"file": request.after.filename, "title": f"Gradmend: {RULES[found.verdict]}"}
    fields |= {"line": str(line)} if line else {}
    given = ",".join(f"{name}={escaped(value, ':,')}" for name, value in fields.items())
    message = "\n".join([found.summary, *changes.witness_lines(found.witness)])
    return [f"::{LEVELS[found.verdict]} {given}::{escaped(message)}"]


def sarif_log(found: list[tuple[ChangeRequest, ChangeFindings]]) -> dict[str, Any]:
    """Return one run of the tool: a result for each change that is not the same training."""
    different = [(r, f) for r, f in found if f.verdict not in (None, "same")]
    ids = sorted({str(f.verdict) for _, f in different})
    rules = [{"id": f"training-{word}", "shortDescription": {"text": RULES[word]}} for word in ids]
    return sarif_of(rules, [_result(r, f, ids) for r, f in different])


def _result(request: ChangeRequest, found: ChangeFindings, ids: list[str]) -> dict[str, Any]:
    verdict = str(found.verdict)
    line = (found.witness.line_after if found.witness else None) or 1
    place = {
        "artifactLocation": {"uri": request.after.filename},
        "region": {"startLine": line},
    }
    text = "\n".join([found.summary, *changes.witness_lines(found.witness)])
    return {
        "ruleId": f"training-{verdict}",
        "ruleIndex": ids.index(verdict),
        "level": SARIF_LEVELS[LEVELS[verdict]],
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "properties": {"verdict": verdict, "stepsEqual": found.steps_equal},
    }


def _harmless(found: ChangeFindings) -> ChangeFindings:
    return ChangeFindings.model_validate(all_visible(found.model_dump()))
