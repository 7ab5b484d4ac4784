"""One line a finding, as linters print them, and one line about all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.command.fixing import best
from app.command.options import COULD_NOT_TELL, FOUND, Options
from app.command.project import Target
from app.present import wording
from app.present.columns import columns_of
from app.present.visible import visible
from app.schemas import Cause, Findings

FIXABLE = "[*] "


@dataclass(frozen=True, slots=True)
class Settled:
    """A script's findings with its exit code; `ignored`: its author does not want to hear of it;
    `fixed`: a fix was written."""

    target: Target
    findings: Findings
    code: int
    ignored: bool = False
    fixed: bool = False


def line_of(one: Settled) -> str:
    """Return `file:line:col: GM011 text`; empty for what is clean, or ignored."""
    if one.ignored or is_clean(one):
        return ""
    findings, name = one.findings, one.target.request.filename
    if findings.verdict in ("confirmed", "likely") and findings.causes:
        cause = findings.causes[0]
        mark = FIXABLE if best(findings.patches) is not None else ""
        return visible(f"{place_of(cause, one.target)}: {cause.id} {mark}{titled(cause)}")
    error = findings.error
    if error is not None and error.exception == "SyntaxError":
        if (at := error.location) is None:
            return visible(f"{name}: not a Python program: {error.message}")
        column = f":{at.column}" if at.column else ""
        return visible(f"{at.file}:{at.line}{column}: syntax error: {error.message}")
    told = wording.sentences(findings.summary)[0]
    return visible(f"{name}: {wording.lowered(wording.state(findings).words)}: {told}")


def is_clean(one: Settled) -> bool:
    """Whether there is nothing to say: it runs clean, or reading alone found nothing in what was
    only to be read."""
    read = one.target.request.run == "never" and not one.target.request.traceback
    nothing = not one.findings.causes and one.findings.error is None
    return one.findings.verdict == "healthy" or (read and nothing)


def titled(cause: Cause) -> str:
    """A cause's title behind the name that carried the graph."""
    if cause.carrier is None:
        return cause.title
    return f"`{cause.carrier.name}`: {wording.lowered(cause.title)}"


def place_of(cause: Cause, target: Target) -> str:
    """Return `file:line:column`, in a notebook `file:cell 4:line:column`."""
    at = cause.location
    lines = target.sources().get(at.file, "").splitlines()
    line = lines[at.line - 1] if 0 < at.line <= len(lines) else at.code
    column = columns_of(cause, line)[0]
    where = at.cell.replace(", line ", ":") if at.cell else str(at.line)
    return f"{target.request.filename if at.cell else at.file}:{where}:{column}"


def summary_of(settled: Sequence[Settled], options: Options) -> str:
    """Return how many scripts were looked at, what was found, and which options fix it."""
    number = "1 script" if len(settled) == 1 else f"{len(settled)} scripts"
    looked = "read" if options.run == "never" else "run"
    faults = [one for one in settled if _found(one)]
    parts = [f"{len(faults) or 'no'} fault{'' if len(faults) == 1 else 's'} found"]
    untold = sum(one.code == COULD_NOT_TELL and not is_clean(one) for one in settled)
    parts += [f"{untold} could not be told"] * bool(untold)
    parts += [f"{n} ignored" for n in [sum(one.ignored for one in settled)] if n]
    parts += [f"{n} fixed" for n in [sum(one.fixed for one in settled)] if n]
    told = f"{number} {looked}: {', '.join(parts)}."
    return " ".join([told, *_offers([one for one in faults if not one.fixed])])


def _found(one: Settled) -> bool:
    return not one.ignored and (one.code == FOUND or one.fixed)


def _offers(open_: Sequence[Settled]) -> list[str]:
    safe = sum(best(one.findings.patches) is not None for one in open_)
    passed = sum(best(one.findings.patches, unsafe=True) is not None for one in open_)
    offers = [f"{FIXABLE}{safe} fixable with --fix."] * bool(safe)
    if passed > safe:
        more = "more" if safe else "fixable"
        offers.append(f"{passed - safe} {more} with --fix --unsafe-fixes.")
    return offers
