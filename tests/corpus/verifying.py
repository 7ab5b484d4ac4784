"""Right and wrong repairs of a case, put to the product's own verifier together."""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.request.examine import examine
from app.repair.tested_candidate import TestedCandidate
from sandbox.protocol import Sandbox
from tests.case_files import Case, Variant
from tests.judging import judge


@dataclass(frozen=True)
class Judged:
    """What the verifier said of one repair; `place` is its rank among all of its case."""

    name: str  # "fixed", "fixed_2", "wrong_1"
    trial: TestedCandidate
    place: int

    @property
    def right(self) -> bool:
        return self.name.startswith("fixed")

    @property
    def passed(self) -> bool:
        return self.trial.status == "passed"

    @property
    def why(self) -> str:
        """The checks that failed, or what was seen."""
        failed = [f"{c.name}: {c.detail}" for c in self.trial.checks if c.status == "failed"]
        return "; ".join(failed) or self.trial.status


def is_verifiable(case: Case) -> bool:
    """Notebooks are left out: their repairs are judged in the order of their cells."""
    return not case.healthy and not case.notebook


async def judged(case: Case, sandbox: Sandbox, time_limit_s: float = 60.0) -> list[Judged]:
    """Every repair of the case, in the order in which the service would offer them."""
    read = examine(case.stripped, "train.py", case.files, "")
    variants = [*case.fixed, *case.wrong]
    patched = [_changed(case, variant) for variant in variants]
    async with sandbox.session() as session:
        trials = await judge(read.files, read.entry, patched, session, time_limit_s)
    names = {f"given {number}": variant.name for number, variant in enumerate(variants, 1)}
    return [
        Judged(names[trial.candidate.strategy], trial, place) for place, trial in enumerate(trials)
    ]


def described(found: list[Judged]) -> str:
    """Return what the verifier says of each repair, best first."""
    return "\n".join(
        f"{one.name}: {one.trial.status}, gradients {one.trial.gradients}"
        + (f"; {one.why}" if not one.passed else "")
        for one in found
    )


def objections(found: list[Judged]) -> list[str]:
    """Right repairs that failed, and wrong ones that would be offered before a right one."""
    wrong = [f"{one.name} failed: {one.why}" for one in found if one.right and not one.passed]
    best = min((one.place for one in found if one.right and one.passed), default=len(found))
    ahead = [one.name for one in found if not one.right and one.passed and one.place < best]
    return [*wrong, *(f"{name} passes in front of every right one" for name in ahead)]


def _changed(case: Case, variant: Variant) -> dict[str, str]:
    """What a repair changes, by the names under which the service got the files."""
    changed = {name for name, text in variant.texts.items() if text != case.texts[name]}
    sent = {name: "train.py" if name == case.entry else name for name in changed}
    return {sent[name]: variant.texts[name] for name in changed}
