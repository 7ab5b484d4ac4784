"""How many of the corpus' failing scripts a tool, a model or a person repairs.

    python -m benchmarks.score DIR --write [--only WORD]
    python -m benchmarks.score DIR [--only WORD] [--partial] [--json FILE]

`--write` puts every failing case into DIR as plain files, to be repaired in place. Without it, what
lies there is judged as our own patches are: each script runs in plain Python, and the probe
(`tests/probe.py`) holds it against the case's right repairs. `benchmarks/score.md` says more.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from tests.case_files import Case, load_cases, put_down

Result = Literal["right", "raises", "differs", "unchanged", "missing"]
RESULTS: tuple[Result, ...] = ("right", "raises", "differs", "unchanged", "missing")
_NAMED = 10  # names that an error lists


class NamesError(ValueError):
    """Files that name no case, or cases without a file; the message names them."""


@dataclass(frozen=True)
class Judged:
    """What became of one case; `objections` says in words what is not right."""

    pattern: str
    result: Result
    objections: list[str] = field(default_factory=list)


def path_of(case: Case) -> str:
    """Return where a case lies below the folder: `recurrent_state/lstm.py`, or its folder where
    it has several files."""
    return case.name if case.files else f"{case.name}{Path(case.entry).suffix}"


def write(cases: Iterable[Case], folder: Path) -> None:
    """Write the scripts of cases as they fail; raise `NamesError` where a file is there already."""
    for case in cases:
        if (folder / path_of(case)).exists():
            raise NamesError(f"{folder / path_of(case)} is there already; name an empty folder")
        texts = case.texts if case.files else {path_of(case): case.stripped}
        put_down(texts, folder / case.name if case.files else folder)


def given(folder: Path, cases: Iterable[Case]) -> dict[str, dict[str, str]]:
    """Return the files of each case that is in the folder, by its name; raise `NamesError` for
    those that belong to no case."""
    by_path = {path_of(case): case for case in cases}
    found: dict[str, dict[str, str]] = {}
    strays = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".ipynb")):
        file = path.relative_to(folder)
        places = [place.as_posix() for place in (file, *file.parents)]
        case = next((by_path[place] for place in places if place in by_path), None)
        name = file.relative_to(case.name).as_posix() if case and case.files else ""
        name = case.entry if case and not case.files else name
        if case is not None and name in case.texts:
            found.setdefault(case.name, {})[name] = path.read_text("utf-8")
        else:
            strays.append(file.as_posix())
    if strays:
        raise NamesError(_about_strays(strays, list(by_path)))
    return found


def require(cases: Sequence[Case], found: Mapping[str, object], folder: Path) -> None:
    """Raise `NamesError` where cases are not in the folder."""
    missing = [path_of(case) for case in cases if case.name not in found]
    if missing:
        raise NamesError(
            f"{len(missing)} of {len(cases)} failing cases are not in {folder}: {_some(missing)}. "
            "--write puts them there; --partial counts them as not repaired"
        )


def judged(case: Case, files: Mapping[str, str] | None) -> Judged:
    """Run what was made of a case, and hold it against the case's right repairs."""
    from tests.plain_runs import Given, PlainRuns

    if files is None:
        return Judged(case.pattern, "missing")
    texts = {**case.texts, **files}
    if texts == case.texts:
        return Judged(case.pattern, "unchanged")
    outcome = PlainRuns().outcome(Given(texts, case.entry), case.fixed)
    wrong: Result = "raises" if outcome.error else "differs"
    return Judged(case.pattern, wrong if outcome.objections else "right", outcome.objections)


def counted(found: Iterable[Judged]) -> dict[str, Counter[Result]]:
    """Return how often each result was, by pattern, and of all."""
    rows: dict[str, Counter[Result]] = {}
    for one in sorted(found, key=lambda one: one.pattern):
        rows.setdefault(one.pattern, Counter())[one.result] += 1
    return {**rows, "all": sum(rows.values(), Counter())}


def table(rows: Mapping[str, Counter[Result]]) -> str:
    """Return Markdown: a row a pattern, and one of all."""
    lines = [f"| pattern | cases | {' | '.join(RESULTS)} | share |", "|---|" + "---:|" * 7]
    for name, counts in rows.items():
        cells = [name, str(counts.total()), *(str(counts[result]) for result in RESULTS)]
        lines.append(f"| {' | '.join(cells)} | {counts['right'] / max(counts.total(), 1):.0%} |")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Write the scripts, or judge what lies there; return 2 where names are not right."""
    options = _parser().parse_args(words)
    failing = [case for case in load_cases() if not case.healthy]
    cases = [case for case in failing if options.only in case.name]
    try:
        if options.write:
            write(cases, options.directory)
            print(f"{len(cases)} failing scripts are in {options.directory}")
            return 0
        files = given(options.directory, failing)
        if not options.partial:
            require(cases, files, options.directory)
    except (NamesError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 2
    found = {case.name: judged(case, files.get(case.name)) for case in cases}
    rows = counted(found.values())
    print(table(rows))
    if options.json:
        every = {name: asdict(one) for name, one in found.items()}
        options.json.write_text(json.dumps({"patterns": rows, "cases": every}, indent=1) + "\n")
    return 0


def _about_strays(strays: Sequence[str], known: Sequence[str]) -> str:
    near = difflib.get_close_matches(strays[0], known, 1)
    hint = f"; is {strays[0]} meant for {near[0]}?" if near else ""
    return (
        f"{len(strays)} files name no failing case: {_some(strays)}{hint} "
        "(a file is named for its case, such as recurrent_state/char_lm.py)"
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="score", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="one script a case")
    parser.add_argument("--write", action="store_true", help="put the failing scripts there")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--partial", action="store_true", help="some may be missing")
    parser.add_argument("--json", type=Path, help="write every judgement to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
