"""Findings as a SARIF 2.1.0 log: what code scanning and editors read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

from analyzers.source.linediff import opcodes
from app.command.lines import Settled
from app.present.fix_wording import level
from app.present.guide import guides, page_of
from app.present.story import notes
from app.present.suppressions import is_marked
from app.request.uploads import texts_of
from app.schemas import Cause, DiagnosisRequest, Location, Patch
from app.version import package_version

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT = "gradmend/v1"
LEVELS = {"confirmed": "error", "likely": "warning"}

Json = dict[str, Any]


def sarif_log(settled: Sequence[Settled]) -> Json:
    """One run of the tool over some scripts: a result for each script's first cause, with the best
    fix as replacements, unless it failed a check; what is ignored is marked as suppressed."""
    rules: dict[str, Json] = {}
    results: list[Json] = []
    for one in settled:
        for cause in one.findings.causes[:1]:
            rules.setdefault(cause.id, _rule(cause))
            results.append(_result(cause, one, list(rules).index(cause.id)))
    return sarif_of(list(rules.values()), results)


def sarif_of(rules: list[Json], results: list[Json]) -> Json:
    """Return the log of one run of the tool, with these rules and results."""
    driver = {"name": "Gradmend", "version": package_version(), "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(cause: Cause) -> Json:
    """A pattern as a rule: its page is shown by what reads the log, and has an address."""
    guide = guides()[cause.pattern]
    return {
        "id": cause.id,
        "name": cause.pattern,
        "shortDescription": {"text": guide.title},
        "help": {"text": guide.text, "markdown": guide.text},
        "helpUri": page_of(cause.id),
    }


def _result(cause: Cause, one: Settled, rule: int) -> Json:
    findings, request = one.findings, one.target.request
    result: Json = {
        "ruleId": cause.id,
        "ruleIndex": rule,
        "level": LEVELS.get(findings.verdict or "", "note"),
        "message": {"text": findings.summary, "markdown": cause.explanation},
        "locations": [_location(cause.location)],
        "partialFingerprints": {FINGERPRINT: fingerprint(cause)},
        "rank": round(cause.confidence * 100, 1),
        "properties": {"verdict": findings.verdict, "basis": findings.basis},
    }
    related = [
        _location(event, id=n, message={"text": text})
        for n, (event, text) in enumerate(notes(cause))
    ]
    if related:
        result["relatedLocations"] = related
    if len(related) > 1:
        steps = [{"location": each, "executionOrder": n} for n, each in enumerate(related, 1)]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if one.ignored:
        marked = is_marked(cause, one.target.sources())
        result["suppressions"] = [{"kind": "inSource" if marked else "external"}]
    fixes = [patch for patch in findings.patches[:1] if patch.verification.status != "failed"]
    if fixes and not request.filename.endswith(".ipynb"):
        result["fixes"] = [_fix(patch, request) for patch in fixes]
    return result


def fingerprint(cause: Cause) -> str:
    """What stays the same of a finding when lines move: its pattern, file, name and code."""
    name = cause.carrier.name if cause.carrier is not None else ""
    parts = (cause.id, cause.location.file, name, " ".join(cause.location.code.split()))
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _location(spot: Location, **more: Any) -> Json:
    region: Json = {"startLine": max(spot.line, 1)}
    if spot.end_line is not None and spot.end_line >= spot.line:
        region["endLine"] = spot.end_line
    if spot.code:
        region["snippet"] = {"text": spot.code}
    return {
        "physicalLocation": {"artifactLocation": _artifact(spot.file), "region": region},
        **more,
    }


def _artifact(path: str) -> Json:
    return {"uri": quote(path)}


def _fix(patch: Patch, request: DiagnosisRequest) -> Json:
    """A patch as replacements of whole lines, file by file."""
    before = {**texts_of(request.files), request.filename: request.script}
    after = {request.filename: patch.script, **{file.path: file.content for file in patch.files}}
    changes = [
        {
            "artifactLocation": _artifact(path),
            "replacements": list(_replacements(before.get(path, ""), text)),
        }
        for path, text in after.items()
        if before.get(path) != text
    ]
    return {
        "description": {"text": f"{patch.title} ({level(patch)})"},
        "artifactChanges": changes,
        "properties": {"level": patch.level},
    }


def _replacements(before: str, after: str) -> Iterator[Json]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for kind, start, end, first, last in opcodes(old, new):
        if kind != "equal":
            yield {
                "deletedRegion": {
                    "startLine": start + 1,
                    "startColumn": 1,
                    "endLine": end + 1,
                    "endColumn": 1,
                },
                "insertedContent": {"text": "".join(new[first:last])},
            }
