"""The fix that was asked for: chosen among those found, shown as a diff, or written."""

from __future__ import annotations

import tokenize
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from analyzers.explain.listed import counted
from app.command.options import BadInput, Options
from app.command.project import Target
from app.http.problems import ProblemError
from app.present.fix_wording import clause, level, training
from app.request.uploads import decoded
from app.schemas import Findings, Patch


def best(patches: Sequence[Patch], *, unsafe: bool = False) -> Patch | None:
    """Return the first fix that may be written: a safe one, or with `unsafe` one that passed."""
    levels = ("safe", "unsafe") if unsafe else ("safe",)
    return next((patch for patch in patches if patch.level in levels), None)


def chosen(findings: Findings, options: Options) -> Patch | None:
    """Return the fix to write or to show: the best one, or that of the number asked for. One that
    failed a check is never returned, one that was not tested only by its number. Raises `BadInput`
    for a number that there is not."""
    if not options.chosen:
        return best(findings.patches, unsafe=options.unsafe)
    if options.fix > len(findings.patches):
        if findings.patches:
            count = len(findings.patches)
            raise BadInput(f"There are {count} fixes; {options.fix} is not one of them.")
        return None
    patch = findings.patches[options.fix - 1]
    allowed = options.unsafe or options.diff or patch.level == "safe"
    return patch if allowed and patch.verification.status != "failed" else None


def why_none(findings: Findings, options: Options) -> str:
    """Why no fix was chosen, and what takes one."""
    patches = findings.patches
    if not patches:
        return "there is nothing to fix" if findings.verdict == "healthy" else "there is no fix"
    if options.chosen and patches[options.fix - 1].verification.status == "failed":
        return f"fix {options.fix} failed its checks"
    unsafe = [patch for patch in patches if patch.level == "unsafe"]
    if unsafe and not options.unsafe:
        number = counted(len(unsafe), "unsafe fix", "unsafe fixes")
        effect = "; ".join(filter(None, (training(unsafe[0]), unsafe[0].level_reason)))
        return f"no fix is safe; {options.switches.unsafe} takes the first of {number} ({effect})"
    untested = [patch for patch in patches if patch.verification.status == "not_run"]
    if untested:
        n = options.fix if options.chosen else untested[0].n
        untested_one = options.switches.untested.format(n=n)
        return f"no fix passed its checks; {untested_one} takes one that was not tested"
    return "no fix passed its checks"


def written(findings: Findings, patch: Patch | None, target: Target, options: Options) -> str:
    """Write a fix over the files that it changes; what was done, in a sentence."""
    if patch is None:
        return f"Nothing was changed: {why_none(findings, options)}."
    if target.path is None:
        return "Nothing was changed: the script came from standard input."
    changed = [place for place, text in target.changed(patch) if _exchange(place, text)]
    return f"Changed {', '.join(map(str, changed))}{caveat(patch)}."


def caveat(patch: Patch) -> str:
    """What is to be said of a fix where it is written."""
    if patch.verification.status != "passed":
        return "; this fix was not tested"
    return f"; this fix {clause(patch)}" if training(patch) or patch.level_reason else ""


def warned(patch: Patch) -> str:
    """What is to be said of a fix where it is only shown; empty for one without an effect."""
    said = caveat(patch)
    return f"Fix {patch.n} is {level(patch)}{said}." if said or patch.level != "safe" else ""


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
