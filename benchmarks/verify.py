"""How far the verifier can be trusted: harmless and changing edits of healthy trainings, and other
people's repairs of failing ones.

    python -m benchmarks.verify [--only gan] [--repairs] [--every 10] [--json out.json]

`benchmarks/trainings/*.toml` holds whole scripts with edits that leave the training as it is, and
edits that make it another one; some scripts do not repeat themselves. With `--repairs`, the right
and wrong repairs of `tests/cases` are verified instead. Every verdict is asked for as the service
does, in the sandbox; printed are the rates, the seconds a verdict took, and all that was misjudged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from app.verdict import Verdict
    from sandbox.protocol import Session

TRAININGS = Path(__file__).parent / "trainings"
Kind = Literal["control", "same", "changed", "unsteady", "right", "wrong"]
GOALS: Mapping[Kind, float] = {
    "control": 1.0, "same": 0.97, "changed": 0.99, "unsteady": 1.0, "right": 0.98, "wrong": 0.0
}  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One change to be judged."""

    name: str  # `gan/same/renamed`
    kind: Kind
    before: Mapping[str, str]
    after: Mapping[str, str]
    entry: str = "train.py"

    def is_right(self, verdict: Verdict) -> bool:
        """Whether the verdict is the true one. A right repair runs, and no check of it fails; a
        wrong one is refused, or said to be another training. Of an original that raises nothing
        and trains wrongly, that is so where it is the same training, too."""
        status = {check.name: check.status for check in verdict.checks}
        failed, raises = "failed" in status.values(), status.get("reproduced") == "passed"
        match self.kind:
            case "control" | "same":
                return verdict.verdict == "same"
            case "changed":
                return verdict.verdict in ("changed", "breaks", "truncated")
            case "unsteady":
                return verdict.verdict == "not_comparable"
            case "right":
                ran = status.get("runs") == "passed" or verdict.verdict != "not_comparable"
                return ran and not failed and verdict.verdict != "breaks"
            case "wrong":
                unchanged = verdict.verdict == "same" and not raises
                return failed or unchanged or verdict.verdict in ("breaks", "changed")


@dataclass(frozen=True)
class Judged:
    """What was said of a trial."""

    name: str
    kind: Kind
    verdict: str
    summary: str
    right: bool
    seconds: float
    notes: list[str]


def main() -> None:
    options = _parser().parse_args()
    trials = repairs() if options.repairs else edits()
    wanted = [trial for trial in trials if options.only in trial.name][:: options.every]
    found = asyncio.run(_judge_all(wanted))
    print(table(found), "", sep="\n")
    for one in found:
        if not one.right:
            print(f"{one.name}: {one.verdict}: {one.summary}")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")


def edits() -> Iterator[Trial]:
    """Every script against itself, and every edit of it."""
    for path in sorted(TRAININGS.glob("*.toml")):
        for script in tomllib.loads(path.read_text())["script"]:
            yield from _edits_of(script)


def _edits_of(script: Mapping[str, Any]) -> Iterator[Trial]:
    name, before = script["name"], {"train.py": script["text"].lstrip("\n")}
    kind: Kind = "control" if script.get("repeats", True) else "unsteady"
    yield Trial(f"{name}/control", kind, before, before)
    kinds: tuple[Kind, ...] = ("same", "changed")
    for kind in kinds:
        for edit, replacements in script.get(kind, {}).items():
            after = {"train.py": edited(before["train.py"], replacements)}
            yield Trial(f"{name}/{kind}/{edit}", kind, before, after)


def edited(text: str, replacements: Iterable[tuple[str, str]]) -> str:
    """The text with one replacement made after the other; raises where one has nothing to do."""
    for old, new in replacements:
        if old not in text:
            raise ValueError(f"nothing to replace: {old!r}")
        text = text.replace(old, new)
    return text


def repairs() -> Iterator[Trial]:
    """The right and the wrong repairs of every failing case."""
    # The sandbox's launcher must not inherit torch, which the cases' loader does not need.
    from tests.case_files import load_cases

    for case in load_cases():
        if case.healthy or case.notebook:
            continue
        kinds: tuple[tuple[Kind, Any], ...] = (("right", case.fixed), ("wrong", case.wrong))
        for kind, variants in kinds:
            for one in variants:
                name = f"{case.name}/{one.name}"
                yield Trial(name, kind, case.texts, one.texts, case.entry)


def table(found: list[Judged]) -> str:
    """Markdown: of each kind how many were judged rightly, and the seconds of a verdict."""
    heads = ["", "n", "right", "rate", "goal", "median s", "90% s"]
    rows = [heads, ["---"] * len(heads)]
    for kind, goal in GOALS.items():
        ours = [one for one in found if one.kind == kind]
        if ours:
            right, seconds = sum(one.right for one in ours), [one.seconds for one in ours]
            high = quantiles(seconds, n=10)[-1] if len(seconds) > 1 else seconds[0]
            figures = [f"{right / len(ours):.1%}", f"{goal:.0%}" if goal else "-"]
            times = [f"{median(seconds):.1f}", f"{high:.1f}"]
            rows.append([kind, str(len(ours)), str(right), *figures, *times])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


async def _judge_all(trials: list[Trial]) -> list[Judged]:
    from sandbox.client import EmbeddedSandbox

    found: list[Judged] = []
    async with EmbeddedSandbox() as sandbox:
        for script in dict.fromkeys(_script(trial) for trial in trials):
            async with sandbox.session() as session:
                for trial in (t for t in trials if _script(t) == script):
                    found.append(await _judged(trial, session))
                    print(f"\r{len(found)} of {len(trials)} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def _script(trial: Trial) -> str:
    return trial.name.rpartition("/")[0].removesuffix("/same").removesuffix("/changed")


async def _judged(trial: Trial, session: Session) -> Judged:
    from app.request.reader import InlineReader
    from app.verify import Version, verify

    begun = time.monotonic()
    before, after = Version(trial.before, trial.entry), Version(trial.after, trial.entry)
    verdict = await verify(before, after, session, time_limit_s=60.0, reader=InlineReader())
    return Judged(
        trial.name,
        trial.kind,
        verdict.verdict,
        verdict.summary,
        trial.is_right(verdict),
        time.monotonic() - begun,
        verdict.notes,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="verify", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="trials whose name contains this")
    parser.add_argument("--repairs", action="store_true", help="repairs of the corpus instead")
    parser.add_argument("--every", type=int, default=1, help="one in so many trials")
    parser.add_argument("--json", type=Path, help="write what was said of every trial")
    return parser


if __name__ == "__main__":
    main()
