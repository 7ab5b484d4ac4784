"""How far small projects get whose packages, data and arguments are absent.

    python -m benchmarks.projects [--only NAME] [--list]

Each is sent without its traceback, as the form would send it. It prints the shares of right first
causes, of first patches that passed their checks, and of projects about which nothing is said.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

from app.schemas import Findings
from benchmarks.asking import RUNNING, ask
from tests.project_files import ProjectCase, load_projects


def is_right(case: ProjectCase, found: Findings) -> bool:
    """Whether the first cause is a right answer; of a healthy project, that there is none."""
    if not case.patterns:
        return not found.causes
    return bool(found.causes) and found.causes[0].pattern in case.patterns


def says_nothing(case: ProjectCase, found: Findings) -> bool:
    """Whether nothing was found out about a faulty project."""
    return bool(case.patterns) and not found.causes


def passed(found: Findings) -> bool:
    """Whether the first patch passed."""
    return bool(found.patches) and found.patches[0].verification.status == "passed"


def line(case: ProjectCase, found: Findings) -> str:
    """What was answered, in one line."""
    first = found.causes[0].pattern if found.causes else "-"
    mark = "right" if is_right(case, found) else "wrong"
    tried = "passed" if passed(found) else "no patch passed"
    world = ", ".join(f"{a.kind} {a.name}" for a in found.world)
    return f"{case.name:24}{mark:7}{found.verdict!s:14}{found.basis!s:11}{first}; {tried} ({world})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="a part of a project's name")
    parser.add_argument("--list", action="store_true", help="tell every answer")
    options = parser.parse_args()
    cases = [c for c in load_projects() if not options.only or options.only in c.name]
    answers = asyncio.run(ask([case.request() for case in cases], [RUNNING]))[RUNNING]
    pairs = list(zip(cases, answers, strict=True))
    if options.list:
        print("\n".join(line(case, found) for case, found in pairs))
    faulty = [pair for pair in pairs if pair[0].patterns]
    print(f"{len(cases)} projects, {len(faulty)} of them faulty")
    print(f"right cause           {_share([is_right(*pair) for pair in pairs])}")
    print(f"first patch passed    {_share([passed(found) for _, found in faulty])}")
    print(f"nothing said          {_share([says_nothing(*pair) for pair in faulty])}")


def _share(answers: Sequence[bool]) -> str:
    return f"{sum(answers)}/{len(answers)} {sum(answers) / max(len(answers), 1):4.0%}"


if __name__ == "__main__":
    main()
