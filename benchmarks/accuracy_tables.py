"""The tables that the accuracy benchmark prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from analyzers.explain.pattern import patterns
from app.schema_types import Level
from benchmarks.asking import RUNNING
from benchmarks.scoring import Score, is_place
from benchmarks.trials import Trial
from tests.case_files import Case

Scores = dict[str, list[Score]]  # by mode, in the order of the trials


def family(case: Case) -> str:
    """The part of the catalogue that a failing case belongs to."""
    if case.engine == "custom":
        return "engine"
    return patterns()[case.pattern].FAMILY


def summary(trials: Sequence[Trial], scores: Scores) -> str:
    """Shares by family, the baselines next to them, and how many healthy scripts were blamed."""
    failing = [n for n, trial in enumerate(trials) if not trial.case.healthy]
    healthy = [n for n, trial in enumerate(trials) if trial.case.healthy]
    groups = {name: [n for n in failing if family(trials[n].case) == name] for name in _ORDER}
    groups = {name: group for name, group in groups.items() if group} | {"all": failing}
    lines = []
    for mode, results in scores.items():
        rows = [[name, *_shares([results[n] for n in group])] for name, group in groups.items()]
        lines += _table([mode, "cases", "pattern", "place", "carrier", "patch"], rows)
        blamed = _share([results[n].blamed for n in healthy])
        cleared = _share([results[n].cleared for n in healthy])
        lines += [f"healthy scripts blamed: {blamed}, called healthy: {cleared}", ""]
        lines += [*levels([results[n] for n in failing]), ""]
    rows = [[name, *_baselines([trials[n] for n in group])] for name, group in groups.items()]
    heads = ["baselines", "patch: retain_graph", "place: anomaly mode", "place: traceback"]
    return "\n".join(lines + _table(heads, rows))


def levels(results: Sequence[Score]) -> list[str]:
    """How many first patches of each level are right: what `--fix` writes, what it does not."""
    rows = [
        [level, _share([result.patch for result in results if result.level == level])]
        for level in get_args(Level)
    ]
    return _table(["level of the first patch", "right"], rows)


def first_contact(batch: Sequence[str], trials: Sequence[Trial], scores: Scores) -> Iterator[str]:
    """Rows of the table in `first_contact.md`, one for each mode; `batch` is its first columns.
    Then, of what was run, how many faults were silent, and how many of these called healthy."""
    failing = [n for n, trial in enumerate(trials) if not trial.case.healthy]
    healthy = [n for n, trial in enumerate(trials) if trial.case.healthy]
    for mode, results in scores.items():
        ours, clean = ([results[n] for n in group] for group in (failing, healthy))
        cells = [
            *batch,
            mode,
            str(len(failing)),
            _share([result.pattern for result in ours]),
            _share([result.place for result in ours]),
            _share([result.patch for result in ours]),
            str(sum(result.misjudged for result in ours)),
            str(len(healthy)),
            str(sum(result.blamed for result in clean)),
            str(sum(result.cleared for result in clean)),
        ]
        yield f"| {' | '.join(cells)} |"
    silent = [n for n in failing if trials[n].case.raises in (None, "nothing")]
    reported = [scores[RUNNING][n].verdict for n in silent] if RUNNING in scores else []
    if reported:
        cells = [*batch, "silent", str(len(reported)), str(reported.count("healthy"))]
        yield f"| {' | '.join(cells)} |"


def complaints(trials: Sequence[Trial], scores: Scores) -> Iterator[str]:
    """What is wrong, case by case."""
    for number, trial in enumerate(trials):
        for mode, results in scores.items():
            for wrong in results[number].wrong:
                yield f"{trial.case.name} [{mode}] {wrong}"


_ORDER = ("graph-reuse", "inplace", "no-grad", "silent", "engine")


def _shares(results: Sequence[Score]) -> list[str]:
    return [
        str(len(results)),
        _share([result.pattern for result in results]),
        _share([result.place for result in results]),
        _share([result.carrier for result in results]),
        _share([result.patch for result in results]),
    ]


def _baselines(trials: Sequence[Trial]) -> list[str]:
    return [
        _share([trial.retain_heals for trial in trials]),
        _share([is_place(trial.case, trial.anomaly) for trial in trials]),
        _share([is_place(trial.case, trial.sight.last) for trial in trials]),
    ]


def _share(answers: Sequence[bool]) -> str:
    if not answers:
        return "-"
    return f"{sum(answers)}/{len(answers)} {sum(answers) / len(answers):4.0%}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (heads, *rows)
    ]
