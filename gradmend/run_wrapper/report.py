"""How a result is printed under the command's own output: code first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from unidiff.patch import PatchSet

from app.command.fixing import best
from app.present.fix_wording import asked, chip, effect
from app.present.visible import visible
from app.present.wording import calls
from app.schemas import Cause, Check, Findings, Patch
from gradmend.run_wrapper.stderr import Paint, say

TRIED = 3  # fixes that failed, of which it is said


def cause_lines(cause: Cause, paint: Paint) -> Iterator[str]:
    """Yield where to look, and what is wrong there."""
    place = cause.location
    where = f"{place.file}:{place.line}"
    named = f"`{cause.carrier.name}`: " if cause.carrier is not None else ""
    rule = f"{cause.id} " if cause.id else ""
    yield paint(where, "bold") + visible(f"  {rule}{named}{cause.title}")


def patch_lines(patch: Patch, paint: Paint) -> Iterator[str]:
    """Yield the change with its line numbers, file by file."""
    for file in PatchSet(patch.diff):
        yield paint(visible(file.path), "bold")
        for line in (line for hunk in file for line in hunk):
            number = line.source_line_no if line.is_removed else line.target_line_no
            text = visible(line.value.rstrip("\n"))
            if number is not None:  # else it says that a file ends without a newline
                yield paint(f"  {line.line_type} {number:>4} │ {text}", line.line_type)


def tested(patch: Patch, paint: Paint) -> str:
    """Return how the fix was checked, in a line."""
    checks = {check.name: check for check in patch.verification.checks}
    if patch.verification.status == "not_run":
        return paint("– not tested: read it before you apply it", "bad")
    if patch.verification.status == "failed":
        return paint(f"✗ {_why_failed(patch)}", "bad")
    passed = [
        chip(c, patch) for c in checks.values() if c.status == "passed" and _is_informative(c)
    ]
    ran = f"your command ran again with it: {_ran(checks['runs'])}"
    gradients = [] if patch.gradients in ("same", "unknown") else [effect(patch)]
    shown = ", ".join([*passed, *gradients])
    return paint(f"✓ {ran}{'; ' * bool(shown)}{shown}", "good")


def _is_informative(check: Check) -> bool:
    return check.name not in ("reproduced", "runs", "minimal")


def _ran(check: Check) -> str:
    found = re.search(r"([1-9]\d*) backward", check.detail)
    return f"no error in {calls(int(found[1]))}" if found else "no error"


def show(findings: Findings, paint: Paint) -> None:
    """Print the best fix that did not fail, how it was checked, failed ones, and what to type."""
    offered = [p for p in findings.patches if p.verification.status != "failed"]
    failed = [p for p in findings.patches if p.verification.status == "failed"]
    if not offered:
        why = "no fix that was tried holds" if failed else "no fix is known for it"
        say(paint(why, "bad"))
        for cause in findings.causes[:1]:
            say(visible(cause.remedy or cause.explanation))
    if findings.fix:
        say(paint(visible(findings.fix), "bold"))
    for patch in offered[:1]:
        for line in patch_lines(patch, paint):
            say(line)
        say(tested(patch, paint))
        if patch.tradeoff:
            say(paint(visible(patch.tradeoff), "dim"))
    for patch in failed[:TRIED]:
        say(paint(f"tried: fix {patch.n}, {visible(patch.title)}: {_why_failed(patch)}", "dim"))
    say(paint("  ".join(_next(findings, offered)), "dim"))


def _why_failed(patch: Patch) -> str:
    failed = next(c for c in patch.verification.checks if c.status == "failed")
    return f"{chip(failed, patch)}: {visible(failed.detail)}"


def _next(findings: Findings, offered: Sequence[Patch]) -> Iterator[str]:
    patch = best(findings.patches, unsafe=True)
    if patch is not None:
        yield f"apply: gradmend apply{'' if patch.level == 'safe' else ' --unsafe-fixes'}"
    for other in offered[1:2]:
        yield f" other fixes: gradmend show {other.n}"
    for cause in findings.causes[:1]:
        yield f" why: gradmend explain {cause.id}"


def one_patch(patch: Patch, paint: Paint) -> None:
    """Print a fix with its checks, one by one."""
    say(paint(visible(patch.title), "bold"))
    for line in patch_lines(patch, paint):
        say(line)
    marks = {"passed": "✓", "failed": "✗", "differs": "≠", "not_run": "–"}
    for check in asked(patch):
        detail = visible(check.detail).replace("in the same sandbox", "in your run")
        say(f"  {marks[check.status]} {chip(check, patch)}  {detail}")
    if patch.tradeoff:
        say(visible(patch.tradeoff))
