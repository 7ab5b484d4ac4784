"""The fix that was asked for: chosen among those found, shown as a diff, or written."""

from __future__ import annotations

import tokenize
from io import BytesIO
from pathlib import Path

from app.command.options import BadInput, Options
from app.command.project import Target
from app.http.problems import ProblemError
from app.request.uploads import decoded
from app.schemas import Findings, Patch


def chosen(findings: Findings, options: Options) -> Patch | None:
    """The fix with the number that was asked for. The best one counts only if it passed its
    checks; one asked for by its number only if it failed none. Raises `BadInput` for a number
    that there is not."""
    number = options.fix or 1
    if number > len(findings.patches):
        if findings.patches and options.chosen:
            raise BadInput(f"There are {len(findings.patches)} fixes; {number} is not one of them.")
        return None
    patch = findings.patches[number - 1]
    allowed = ("passed", "not_run") if options.chosen else ("passed",)
    return patch if patch.verification.status in allowed else None


def why_none(findings: Findings) -> str:
    """Why no fix was chosen."""
    if not findings.patches:
        return "there is nothing to fix" if findings.verdict == "healthy" else "there is no fix"
    if findings.patches[0].verification.status == "not_run":
        return "no fix passed its checks; --fix=1 takes the first, which was not tested"
    return "no fix passed its checks"


def written(findings: Findings, patch: Patch | None, target: Target) -> str:
    """Write a fix over the files that it changes; what was done, in a sentence."""
    if patch is None:
        return f"Nothing was changed: {why_none(findings)}."
    if target.path is None:
        return "Nothing was changed: the script came from standard input."
    changed = [place for place, text in target.changed(patch) if _exchange(place, text)]
    untested = "" if patch.verification.status == "passed" else " This fix was not tested."
    return f"Changed {', '.join(map(str, changed))}.{untested}"


def _exchange(path: Path, text: str) -> bool:
    """Write a file's new text; whether it is new. Its encoding and byte order mark stay."""
    try:
        data = path.read_bytes()
        if decoded(str(path), data) == text:
            return False
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        path.write_bytes(text.encode(encoding))
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or 'cannot be written').lower()}.") from None
    except ProblemError as problem:
        raise BadInput(problem.detail) from None
    return True
