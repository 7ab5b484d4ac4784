"""How far a part of a script and its error get: read, and run in a harness.

    python -m benchmarks.fragments [--harness] [--pasted | --healthy] [--every N] [--list]

People paste the function or the loop that failed, without imports, models and data. Here every
failing case of one file is run once for its traceback; then only the top-level statement (a
function, a class, a loop) that holds all lines the case names as right answers is read, next to the
whole traceback, and next to the error's last line alone. Cases in which no one statement holds them
are left out. `--pasted` takes the fragments under `tests/fragments` instead, which are marked in
the programs that they were taken from. `--harness` also lets the sandbox run them with what is
missing synthesized, as the service does. `--healthy` asks about parts of healthy cases instead,
without an error: every cause reported is a false blame. `--every` takes each N-th fragment only,
`--only` those whose name holds a text; `--list` names the wrong answers.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.request.causes import classify
from analyzers.request.examine import examine
from analyzers.source.project import Project
from app.request.case import read_case
from app.request.reader import Reader
from app.run.explain import explain
from app.run.reproduce import observe
from app.schemas import DiagnosisRequest
from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Job, Sandbox
from tests.case_files import ROOT, Case, load_cases

PASTED = ROOT.with_name("fragments")


@dataclass(frozen=True)
class Fragment:
    """A part of a case's script; `lines`: the right answers in it, from 1."""

    case: Case
    text: str
    lines: frozenset[int]


def fragments() -> Iterator[Fragment]:
    """One fragment of each case that has one."""
    for case in load_cases():
        if case.raises is None or case.files or case.notebook:
            continue
        wanted = {place.line for place in case.places}
        for statement in ast.parse(case.stripped).body:
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            if wanted and all(first <= line <= last for line in wanted):
                text = "\n".join(case.stripped.splitlines()[first - 1 : last]) + "\n"
                yield Fragment(case, text, frozenset(line - first + 1 for line in wanted))


def pasted() -> Iterator[Fragment]:
    """What the programs under `tests/fragments` mark between two comments."""
    for case in load_cases(PASTED):
        lines = case.stripped.splitlines()
        bare = [line.strip() for line in lines]
        first, last = bare.index("# paste: begin") + 1, bare.index("# paste: end")
        wanted = frozenset(place.line - first for place in case.places)
        yield Fragment(case, "\n".join(lines[first:last]) + "\n", wanted)


def healthy_fragments() -> Iterator[Fragment]:
    """Of each healthy case of one file, every function, class and loop."""
    for case in load_cases():
        if not case.healthy or case.files or case.notebook:
            continue
        lines = case.stripped.splitlines()
        for node in ast.parse(case.stripped).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.For | ast.While):
                text = "\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n"
                yield Fragment(case, text, frozenset())


def tell_blame(asked: list[tuple[Fragment, str]], answers: list[Answer]) -> None:
    """How many healthy parts are blamed, each with its findings."""
    blamed = [(f, a) for (f, _), a in zip(asked, answers, strict=True) if a.pattern]
    for fragment, reported in blamed:
        how = "seen" if reported.seen else "read"
        print(f"    {fragment.case.name}: {reported.pattern} line {reported.line} ({how})")
        if reported.seen:
            print(fragment.text)
    print(f"{len(blamed)} of {len(asked)} healthy fragments are blamed")


async def tracebacks(cases: list[Case], box: Sandbox) -> list[str]:
    """What each case prints when it fails; empty where it raised nothing."""
    jobs = [Job(files={"train.py": case.stripped}, mode="plain") for case in cases]
    results = [await box.run(job) for job in jobs]
    return [result.raised.traceback if result.raised else "" for result in results]


@dataclass(frozen=True)
class Answer:
    """The pattern and the line of the first cause (of none, an empty name), and how it is known."""

    pattern: str = ""
    line: int = 0
    seen: bool = False


def by_reading(fragment: Fragment, error: str) -> Answer:
    """What reading alone says."""
    examined = examine(fragment.text, "train.py", {}, error)
    reading = examined.reading
    causes = classify(Project(examined.files), (*reading.suspected, *reading.evidence))
    return Answer(causes[0].pattern, causes[0].location.line) if causes else Answer()


async def by_running(fragment: Fragment, error: str, box: Sandbox, reader: Reader) -> Answer:
    """What the service says before it tries patches."""
    case = await read_case(DiagnosisRequest(script=fragment.text, traceback=error), reader)
    seen = await observe(case, box)
    causes = await explain(case, seen, reader)
    if not causes:
        return Answer()
    return Answer(causes[0].pattern, causes[0].location.line, seen.from_run)


async def all_by_running(
    asked: list[tuple[Fragment, str]], box: Sandbox, reader: Reader
) -> list[Answer]:
    """The answers to all of them, two at a time."""
    gate = asyncio.Semaphore(2)

    async def one(fragment: Fragment, error: str) -> Answer:
        async with gate:
            return await by_running(fragment, error, box, reader)

    return list(await asyncio.gather(*(one(*each) for each in asked)))


async def _answers(asked: list[tuple[Fragment, str]]) -> list[Answer]:
    reader = Reader()
    async with EmbeddedSandbox() as box:
        try:
            return await all_by_running(asked, box, reader)
        finally:
            await reader.close()


async def _errors(cases: list[Case]) -> list[str]:
    async with EmbeddedSandbox(options=["--queue", "1000"]) as box:
        return await tracebacks(cases, box)


def tell(
    title: str, asked: list[tuple[Fragment, str]], answers: list[Answer], listing: bool
) -> None:
    """One row of the table, and the wrong answers if they are to be listed."""
    none = right = exact = 0
    for (fragment, _), given in zip(asked, answers, strict=True):
        case = fragment.case
        good = given.pattern in (case.pattern, *case.also)
        none, right = none + (not given.pattern), right + good
        exact += good and given.line in fragment.lines
        if listing and not (good and given.line in fragment.lines):
            how = "seen" if given.seen else "read"
            print(f"    {case.name}: {given.pattern or 'no cause'} line {given.line} ({how})")
    shares = [f"{count / len(asked):.0%}" for count in (none, right, exact)]
    shares.append(f"{sum(given.seen for given in answers) / len(asked):.0%}")
    print("{:34}{:>10}{:>13}{:>10}{:>8}".format(title, *shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--harness", action="store_true")
    parser.add_argument("--pasted", action="store_true")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    chosen = parser.parse_args()
    if chosen.healthy:
        parts = [f for f in healthy_fragments() if chosen.only in f.case.name][:: chosen.every]
        alone = [(fragment, "") for fragment in parts]
        tell_blame(alone, asyncio.run(_answers(alone)))
        return
    source = pasted if chosen.pasted else fragments
    found = [f for f in source() if chosen.only in f.case.name][:: chosen.every]
    errors = asyncio.run(_errors([fragment.case for fragment in found]))
    raised = [(f, error.strip()) for f, error in zip(found, errors, strict=True) if error]
    print(f"{len(raised)} fragments")
    print(f"{'':34}{'no cause':>10}{'right cause':>13}{'and line':>10}{'seen':>8}")
    for title, cut in (("the traceback", 0), ("its last line alone", -1)):
        asked = [(f, "\n".join(error.splitlines()[cut:])) for f, error in raised]
        tell(f"read, with {title}", asked, [by_reading(*each) for each in asked], chosen.list)
        if chosen.harness:
            answers = asyncio.run(_answers(asked))
            tell(f"run, with {title}", asked, answers, chosen.list)


if __name__ == "__main__":
    main()
