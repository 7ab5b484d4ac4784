"""The same request again has the same result: what was found answers it, whoever asked first."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from app.change_schemas import ChangeFindings
from app.schemas import BaseFindings, DiagnosisRequest, Findings

PACKAGES = ("analyzers", "app", "provenance", "sandbox")
SETTLED = ("reproduced", "ran_clean", "other_error")


def digest_of(asked: str, sandbox: str) -> str:
    """Return a digest of a request (as JSON) for this version of the service and this sandbox."""
    return hashlib.sha256(f"{version()}\n{sandbox}\n{asked}".encode()).hexdigest()


def is_settled(request: BaseModel, findings: BaseFindings) -> bool:
    """Return True if another attempt would find the same.

    Then nothing was cut short, and the script was run where it was to be run.
    """
    if isinstance(findings, ChangeFindings):
        return findings.verdict not in (None, "not_comparable")
    assert isinstance(request, DiagnosisRequest)
    assert isinstance(findings, Findings)
    if findings.run is None:
        return request.run == "never" and findings.verdict is not None
    return findings.run.status in SETTLED and not findings.run.tampered


@cache
def version() -> str:
    """Return a digest of the service's own source: a new version diagnoses again."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
