"""What the verifier measures of repairs whose worth is known.

    python -m benchmarks.effects [--only recurrent] [--limit 20] [--at-once 2] [--json out.json]

Every right and every wrong repair in `tests/cases` goes through the product's own verifier, all
repairs of a case together, and some cases at once. Printed are the measured effects of the right
ones and of the wrong ones, how many of each passed, and every case in which a right repair fails or
a wrong one would be offered first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.case_files import Case
    from tests.corpus.verifying import Judged


def main() -> None:
    options = _parser().parse_args()
    # The sandbox's launcher must not inherit torch, which the cases' loader does not need.
    from tests.case_files import load_cases
    from tests.corpus.verifying import is_verifiable, objections

    cases = [c for c in load_cases() if options.only in c.name and is_verifiable(c)]
    found = asyncio.run(_judge_all(cases[: options.limit], options.at_once))
    print(table([one for judged in found.values() for one in judged]), "", sep="\n")
    for name, judged in found.items():
        for objection in objections(judged):
            print(f"{name}: {objection}")
    if options.json:
        options.json.write_text(json.dumps(_report(found), indent=1) + "\n")


def table(found: list[Judged]) -> str:
    """Markdown: measured effects of right and of wrong repairs."""
    heads = ["", "repairs", "passed", *EFFECTS]
    rows = [heads, ["---"] * len(heads)]
    for name, right in (("right", True), ("wrong", False)):
        ours = [one for one in found if one.right == right]
        effects = Counter(effect(one) for one in ours)
        passed = sum(one.passed for one in ours)
        rows.append([name, str(len(ours)), str(passed), *(str(effects[e]) for e in EFFECTS)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


EFFECTS = ("same", "truncated", "changed", "unknown")


def effect(one: Judged) -> str:
    """What was measured; a repair that failed to run has no effect to speak of."""
    return one.trial.gradients if one.trial.gradients in EFFECTS else "unknown"


async def _judge_all(cases: list[Case], at_once: int) -> dict[str, list[Judged]]:
    from sandbox.client import EmbeddedSandbox
    from tests.corpus.verifying import judged

    found: dict[str, list[Judged]] = {}
    waiting = iter(cases)

    async def judge_some(sandbox: EmbeddedSandbox) -> None:
        for case in waiting:
            found[case.name] = await judged(case, sandbox)
            print(f"\r{len(found)} of {len(cases)} ", end="", file=sys.stderr, flush=True)

    async with EmbeddedSandbox() as sandbox:
        await asyncio.gather(*(judge_some(sandbox) for _ in range(at_once)))
    print(file=sys.stderr)
    return {case.name: found[case.name] for case in cases}


def _report(found: dict[str, list[Judged]]) -> dict[str, list[dict[str, object]]]:
    return {
        name: [
            {
                "repair": one.name,
                "passed": one.passed,
                "effect": effect(one),
                "text": one.trial.effect.text,
                "differences": [gap for _, gap in one.trial.measured.nearest.differences],
                "early": one.trial.measured.early,
                "schedule": one.trial.schedule.problem,
                "why": one.why,
            }
            for one in judged
        ]
        for name, judged in found.items()
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="effects", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--limit", type=int, help="at most so many cases")
    parser.add_argument("--at-once", type=int, default=2, help="how many cases")
    parser.add_argument("--json", type=Path, help="write what was seen of every repair")
    return parser


if __name__ == "__main__":
    main()
