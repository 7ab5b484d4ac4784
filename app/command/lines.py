"""A line for each finding, as linters print them, and one line about all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.explain.listed import counted, lowered
from app.command.fixing import best
from app.command.options import COULD_NOT_TELL, FOUND, Options
from app.command.project import Target
from app.present import wording
from app.present.columns import columns_of
from app.present.visible import visible
from app.schemas import Cause, Findings

FIXABLE = "[*] "
FIXED = "fixed: "


@dataclass(frozen=True, slots=True)
class Settled:
    """A script's findings with its exit code; `ignored`: its author does not want to hear of it;
    `fixed`: a fix was written."""

    target: Target
    findings: Findings
    code: int
    ignored: bool = False
    fixed: bool = False


def lines_of(one: Settled) -> Iterator[str]:
    """Yield `file:line:col: GM011 text`, after a syntax error; nothing for what is clean or
    ignored.
    """
    if one.ignored or is_clean(one.target, one.findings):
        return
    findings, name = one.findings, one.target.request.filename
    if wrong := _syntax_error(findings, name):
        yield visible(wrong)
    if findings.verdict in ("confirmed", "likely") and findings.causes:
        cause = findings.causes[0]
        mark = FIXED if one.fixed else FIXABLE if best(findings.patches) is not None else ""
        said = as_likely(findings) or f"{cause.id} {mark}{titled(cause)}"
        yield visible(f"{place_of(cause, one.target)}: {said}")
    elif not wrong:
        if one.target.request.run == "never" and (unread := one.target.gathered.unread):
            yield visible(f"{unread[0]}: not read: Python cannot parse it")
            return
        summary = wording.sentences(findings.summary)[0]
        yield visible(f"{name}: {lowered(wording.state(findings).words)}: {summary}")


def as_likely(findings: Findings) -> str:
    """Return what a traceback alone says where several patterns are as likely; else nothing."""
    alike = [c.id for c in findings.causes if c.confidence == findings.causes[0].confidence]
    if findings.basis != "traceback" or len(alike) < 2:
        return ""
    return f"{'/'.join(alike)}: usual causes of this error; the script shows which it is"


def _syntax_error(findings: Findings, name: str) -> str:
    """Return the line of a syntax error; empty if there is none."""
    error = findings.error
    if error is None or error.exception != "SyntaxError":
        return ""
    if (at := error.location) is None:
        return f"{name}: not a Python program: {error.message}"
    column = f":{at.column}" if at.column else ""
    return f"{at.file}:{at.line}{column}: syntax error: {error.message}"


def is_clean(target: Target, found: Findings) -> bool:
    """Return True if there is nothing to report: the script ran clean, or it was only to be read,
    was read whole, and no fault was found."""
    read = target.request.run == "never" and not target.request.traceback
    whole = found.basis is not None and not target.gathered.unread
    nothing = not found.causes and found.error is None
    return found.verdict == "healthy" or (read and whole and nothing)


def titled(cause: Cause) -> str:
    """A cause's title behind the name that carried the graph."""
    if cause.carrier is None:
        return cause.title
    return f"`{cause.carrier.name}`: {lowered(cause.title)}"


def place_of(cause: Cause, target: Target) -> str:
    """Return `file:line:column`, in a notebook `file:cell 4:line:column`."""
    at = cause.location
    lines = target.sources().get(at.file, "").splitlines()
    line = lines[at.line - 1] if 0 < at.line <= len(lines) else at.code
    column = columns_of(cause, line)[0]
    where = at.cell.replace(", line ", ":") if at.cell else str(at.line)
    return f"{target.request.filename if at.cell else at.file}:{where}:{column}"


def summary_of(settled: Sequence[Settled], options: Options, refused: int = 0) -> str:
    """Return how many scripts were run or only read, what was found, and which options fix it;
    `refused` counts files of which nothing could be read."""
    unread = [one for one in settled if _is_unread(one)]
    not_read = len(unread) + refused
    if len(unread) == len(settled):
        return f"{counted(not_read, 'file')} could not be read."
    faults = [one for one in settled if _found(one)]
    parts = [f"{counted(len(faults), 'fault') if faults else 'no faults'} found"]
    unknown = sum(one.code == COULD_NOT_TELL and one not in unread for one in settled)
    parts += [f"{unknown} could not be judged"] * bool(unknown)
    parts += [f"{n} ignored" for n in [sum(one.ignored for one in settled)] if n]
    parts += [f"{n} fixed" for n in [sum(one.fixed for one in settled)] if n]
    looked = _looked([one for one in settled if one not in unread], options)
    looked += f", {not_read} not read" if not_read else ""
    counts = f"{looked}: {', '.join(parts)}."
    return " ".join([counts, *_offers([one for one in faults if not one.fixed])])


def _looked(settled: Sequence[Settled], options: Options) -> str:
    """Return how many scripts were run, how many only read, and how many tracebacks came alone."""
    requests = [one.target.request for one in settled]
    alone = sum(bool(r.traceback.strip()) and not r.script.strip() for r in requests)
    run = sum(options.run == r.run == "auto" for r in requests)
    read = len(requests) - run - alone
    parts = [f"{counted(run, 'script')} run"] * bool(run)
    parts += [f"{read} read" if run else f"{counted(read, 'script')} read"] * bool(read)
    parts += [f"{counted(alone, 'traceback')} read"] * bool(alone)
    return ", ".join(parts) or "0 scripts run"


def _is_unread(one: Settled) -> bool:
    """Return True if Python cannot parse a script, so that it says nothing."""
    found = one.findings
    unparsed = bool(one.target.gathered.unread) or bool(_syntax_error(found, ""))
    looked = found.run is not None or found.causes or is_clean(one.target, found)
    return unparsed and not looked


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
