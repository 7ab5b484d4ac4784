"""The same program written otherwise: is it diagnosed and fixed as well?

    python -m benchmarks.metamorphic [--no-run] [--every 8 [--start 3]] [--limit 20]
                                     [--only recurrent] [--way while --way class] [--list]

Failing cases of one file are rewritten in ten ways that do not change what they do (see
`benchmarks.rewritings`) and asked again: with the sandbox, and by reading alone. Counted are the
cases that raise the same error when they are rewritten, and that the service gets right as they
are (`control`: unparsed only): how many keep their cause, and how many get a first patch that the
probe accepts. Rewriting changes neither gradients nor the order of anything, so the case's own
repairs stay the measure; of engines, whose leaves the probe knows by their names, these repairs
count rewritten, too. `--way` asks in the ways whose name contains it, and as the cases are.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.schemas import DiagnosisRequest, Findings

if TYPE_CHECKING:
    from tests.probe import Record


@dataclass(frozen=True)
class Asked:
    """A case in one way of writing it, and the error that it raised so."""

    case: str
    way: str
    text: str
    error: str


def main() -> None:
    options = _parser().parse_args()
    # The reader's workers import this module again, and must not pay for torch.
    from benchmarks.asking import READING, RUNNING, ask
    from tests.case_files import load_cases
    from tests.plain_runs import run_once
    from tests.probe import judge

    cases = {
        case.name: case
        for case in load_cases()
        if case.raises and not case.files and not case.notebook
        and options.only in case.name
    }  # fmt: skip
    cases = dict(list(cases.items())[options.start :: options.every][: options.limit])
    accepted = {name: [run_once(variant) for variant in case.fixed] for name, case in cases.items()}
    asked = [
        one
        for name, case in cases.items()
        for one in written(name, case.stripped, options.way or [""])
    ]
    requests = [DiagnosisRequest(script=one.text, filename="train.py") for one in asked]
    for mode in [READING] if options.no_run else [RUNNING, READING]:
        answers = asyncio.run(ask(requests, [mode]))[mode]
        caused: dict[tuple[str, str], bool] = {}
        mended: dict[tuple[str, str], bool] = {}
        for one, found in zip(asked, answers, strict=True):
            case = cases[one.case]
            first = found.causes[0].pattern if found.causes else "no cause"
            caused[one.case, one.way] = first in (case.pattern, *case.also)
            patched = recorded(found)
            repairs = accepted[one.case]
            if patched is not None and case.engine == "custom":
                again = [recorded_as(variant.text, one.way) for variant in case.fixed]
                repairs = [*repairs, *again]
            mended[one.case, one.way] = patched is not None and not judge(patched, repairs)
        print(table(mode, caused, mended))
        for key, right in mended.items() if options.list else ():
            if not (right and caused[key]):
                print("   ", *key, "" if caused[key] else "cause", "" if right else "patch")


def written(name: str, text: str, wanted: Sequence[str]) -> list[Asked]:
    """A case in every wanted way in which it still raises what it raised."""
    from benchmarks.rewritings import WAYS, rewritten

    found: list[Asked] = []
    for way in (way for way in WAYS if way == "control" or any(part in way for part in wanted)):
        made = rewritten(text, way)
        error = _error(made) if made is not None else ""
        if made is not None and error and (not found or error == found[0].error):
            found.append(Asked(name, way, made, error))
    return found if found and found[0].way == "control" else []


def _error(text: str) -> str:
    """The class of the error that a script raises, and how its message begins."""
    return (_record(text).error or "")[:60]


def recorded(found: Findings) -> Record | None:
    """What the first patch does when it is run outside the service."""
    return _record(found.patches[0].script) if found.patches else None


def recorded_as(text: str, way: str) -> Record:
    """What a script does when it is written in another way, or as it is where that cannot be."""
    from benchmarks.rewritings import rewritten

    return _record(rewritten(text, way) or text)


def _record(text: str) -> Record:
    from tests.plain_runs import run_files

    return run_files({"train.py": text})


def table(
    mode: str, caused: dict[tuple[str, str], bool], mended: dict[tuple[str, str], bool]
) -> str:
    """A line for each way: of the cases that are right as they are, how many stay so."""
    lines = [f"{mode:34}{'cases':>6}{'same cause':>12}{'right patch':>13}"]
    for way in dict.fromkeys(way for _, way in caused):
        cells = [
            _share([right[case, way] for case, w in right if w == way and right[case, "control"]])
            for right in (caused, mended)
        ]
        count = sum(w == way for _, w in caused)
        lines.append(f"{way:34}{count:>6}{cells[0]:>12}{cells[1]:>13}")
    return "\n".join(lines)


def _share(right: list[bool]) -> str:
    return f"{sum(right)}/{len(right)}" + (f" {sum(right) / len(right):.0%}" if right else "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="metamorphic", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--way", action="append", help="ways whose name contains this")
    parser.add_argument("--no-run", action="store_true", help="read only, without the sandbox")
    parser.add_argument("--limit", type=int, help="at most so many cases")
    parser.add_argument("--every", type=int, default=1, help="one case in so many")
    parser.add_argument("--start", type=int, default=0, help="leave out so many cases first")
    parser.add_argument("--list", action="store_true", help="name what was lost")
    return parser


if __name__ == "__main__":
    main()
