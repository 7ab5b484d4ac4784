"""How far a part of a script and its error get without anything being run.

    python -m benchmarks.fragments [--list]

People paste the function or the loop that failed, without imports, models and data. Here every
failing case of one file is run once for its traceback; then only the top-level statement (a
function, a class, a loop) that holds all lines the case names as right answers is read, beside the
whole traceback, and beside the error's last line alone. Cases in which no one statement holds them
are left out. `--list` names the wrong answers.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.classify import classify
from analyzers.examine import examine
from analyzers.source import Project
from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Job
from tests.case_files import Case, load_cases


@dataclass(frozen=True)
class Fragment:
    """A part of a case's script; `lines`: the right answers in it, from 1."""

    case: Case
    text: str
    lines: frozenset[int]


def fragments() -> Iterator[Fragment]:
    """One fragment of each case that has one."""
    for case in load_cases():
        if case.raises is None or case.files or case.path.suffix != ".py":
            continue
        wanted = {place.line for place in case.places}
        for statement in ast.parse(case.stripped).body:
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            if wanted and all(first <= line <= last for line in wanted):
                text = "\n".join(case.stripped.splitlines()[first - 1 : last]) + "\n"
                yield Fragment(case, text, frozenset(line - first + 1 for line in wanted))


async def tracebacks(cases: list[Case]) -> list[str]:
    """What each case prints when it fails; empty where it raised nothing."""
    async with EmbeddedSandbox(options=["--queue", "1000"]) as box:
        jobs = [Job(files={"train.py": case.stripped}, mode="plain") for case in cases]
        results = await asyncio.gather(*(box.run(job) for job in jobs))
    return [result.raised.traceback if result.raised else "" for result in results]


def answer(fragment: Fragment, error: str) -> tuple[str, int]:
    """The pattern and the line of the first cause; of none, an empty name."""
    examined = examine(fragment.text, "train.py", {}, error)
    reading = examined.reading
    causes = classify(Project(examined.files), (*reading.suspected, *reading.evidence))
    return (causes[0].pattern, causes[0].location.line) if causes else ("", 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    listing = parser.parse_args().list
    found = list(fragments())
    errors = asyncio.run(tracebacks([fragment.case for fragment in found]))
    raised = [(f, error.strip()) for f, error in zip(found, errors, strict=True) if error]
    print(f"{len(raised)} fragments")
    print(f"{'read with':28}{'no cause':>10}{'right cause':>13}{'and line':>10}")
    for title, cut in (("the traceback", 0), ("its last line alone", -1)):
        none = right = exact = 0
        for fragment, error in raised:
            case = fragment.case
            pattern, line = answer(fragment, "\n".join(error.splitlines()[cut:]))
            good = pattern in (case.pattern, *case.also)
            none, right = none + (not pattern), right + good
            exact += good and line in fragment.lines
            if listing and not good:
                print(f"    {case.name}: {pattern or 'no cause'}")
        shares = (f"{count / len(raised):.0%}" for count in (none, right, exact))
        print("{:28}{:>10}{:>13}{:>10}".format(title, *shares))


if __name__ == "__main__":
    main()
