"""Reduce a patch to its smallest part that has the same effect."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter

from analyzers.source.linediff import Opcode, opcodes
from analyzers.source.project import Module
from app.repair.judging import run_plain, trial_of
from app.repair.original import Original
from app.repair.tested_candidate import TestedCandidate

MOST = 6  # hunks: more belong together, and each costs a trial
COST = 4  # runs that a trial may take
_NAME = re.compile(r"\b[^\W\d]\w*")
_BRANCHES = (ast.If, ast.Match, ast.Try, ast.IfExp, ast.ExceptHandler)


@dataclass(frozen=True)
class ChangedBlock:
    """One block of changed lines of a file.

    `certain`: the run went through it, whatever branch it took, so that a run without the hunk
    shows whether it is needed. `taken` and `given`: the removed and the added lines, stripped.
    """

    path: str
    code: Opcode
    certain: bool
    taken: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()

    def moves(self, others: Iterable[ChangedBlock]) -> bool:
        """Return True if another hunk removes or adds the same line, or removes a name that this
        one adds: a call of `detach` that goes elsewhere.
        """
        rest = [one for one in others if one != self]
        lines = any(self.taken & one.given or self.given & one.taken for one in rest)
        added = _names(self.given) - _names(self.taken)
        return lines or any(added & (_names(one.taken) - _names(one.given)) for one in rest)


async def reduce(original: Original, winner: TestedCandidate) -> TestedCandidate | None:
    """Return the trial of a part of a patch that passed and is no worse. Return None if all of it
    is needed or belongs together, or if that cannot be seen: a run that was stopped may not have
    reached every hunk, and where no gradients were compared, nothing shows that a part has the same
    effect.
    """
    best, files = winner, winner.candidate.files
    kept = list(hunks(original.files, files))
    seen = winner.run.status == "finished" and winner.gradients != "unknown"
    if winner.candidate.whole or not seen or not 1 < len(kept) <= MOST:
        return None
    for hunk in [one for one in reversed(kept) if one.certain and not one.moves(kept)]:
        rest = [one for one in kept if one != hunk]
        if not rest or original.time_left_s < COST * winner.run.ran_s:
            break
        part = applied(original.files, files, rest)
        candidate = replace(winner.candidate, files=part)
        trial = await trial_of(original, winner.turn, candidate)
        if trial.status == "passed" and trial.run.status == "finished" and trial.merit < best.merit:
            best, kept = trial, rest
    if best is winner:
        return None
    await run_plain(original, best)
    return best if best.status == "passed" else None


def hunks(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[ChangedBlock]:
    """Yield the blocks of lines that a patch changes, in the order of its files."""
    for path, text in after.items():
        old, new = before.get(path, "").splitlines(True), text.splitlines(True)
        conditional = _conditional(path, before.get(path, ""))
        for code in _line_by_line(opcodes(old, new)):
            _, i1, i2, j1, j2 = code
            if code[0] != "equal":
                lines = range(i1 + 1, max(i2, i1 + 1) + 1)
                taken = frozenset(map(str.strip, old[i1:i2])) - {""}
                given = frozenset(map(str.strip, new[j1:j2])) - {""}
                yield ChangedBlock(path, code, conditional.isdisjoint(lines), taken, given)


def _names(lines: Iterable[str]) -> Counter[str]:
    return Counter(_NAME.findall(" ".join(lines)))


def _line_by_line(codes: list[Opcode]) -> Iterator[Opcode]:
    """Yield one change per line for blocks that are replaced by equally many lines."""
    for tag, i1, i2, j1, j2 in codes:
        if tag == "replace" and i2 - i1 == j2 - j1:
            yield from ((tag, i1 + n, i1 + n + 1, j1 + n, j1 + n + 1) for n in range(i2 - i1))
        else:
            yield tag, i1, i2, j1, j2


def applied(
    before: Mapping[str, str], after: Mapping[str, str], kept: list[ChangedBlock]
) -> dict[str, str]:
    """Return the files that a patch changes, with only some of its hunks applied."""
    files = dict[str, str]()
    for path in dict.fromkeys(hunk.path for hunk in kept):
        old, new = before[path].splitlines(True), after[path].splitlines(True)
        lines, end = list[str](), 0
        for _, i1, i2, j1, j2 in sorted(
            (h.code for h in kept if h.path == path), key=itemgetter(1)
        ):
            lines += [*old[end:i1], *new[j1:j2]]
            end = i2
        files[path] = "".join([*lines, *old[end:]])
    return files


def _conditional(path: str, text: str) -> set[int]:
    """Return the lines that run only under a condition; all lines of a file that is not Python."""
    try:
        module = Module(path, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(range(1, text.count("\n") + 2))
    return {
        line
        for node in module.nodes
        if isinstance(node, _BRANCHES)
        for line in range(getattr(node, "lineno", 1), (getattr(node, "end_lineno", 0) or 0) + 1)
    }
