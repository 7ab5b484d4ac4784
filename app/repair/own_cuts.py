"""Find what a script cuts off from its losses by itself, at lines that a patch leaves alone."""

from __future__ import annotations

from collections.abc import Mapping

from analyzers.source.linediff import original_line
from provenance import CodeLine
from sandbox.protocol import RunResult


def cut_off_before(
    result: RunResult, before: Mapping[str, str], after: Mapping[str, str]
) -> set[str]:
    """Return the parameters that a patched run does not train because of a line that was there
    before: without the patch they would get no gradient either.
    """
    shown = result.trace.silent if result.trace is not None else []
    return {
        name
        for record in shown
        if record.kind == "unfed-parameters" and record.at is not None
        if _is_old(record.at, before, after)
        for name in record.params
    }


def _is_old(at: CodeLine, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return True if the patch has not changed the line."""
    if at.file not in before:
        return False
    old = before[at.file].splitlines()
    return original_line(old, after.get(at.file, before[at.file]).splitlines(), at.line) is not None
