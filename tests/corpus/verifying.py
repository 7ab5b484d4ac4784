"""Right and wrong repairs of a case, put to the product's own verifier together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analyzers.request.examine import examine
from app.repair.contest import judge
from app.repair.verify import Trial
from sandbox.protocol import Sandbox
from tests.case_files import Case, strip


@dataclass(frozen=True)
class Judged:
    """What the verifier said of one repair; `place` is its rank among all of its case."""

    name: str  # "fixed", "fixed_2", "wrong_1"
    trial: Trial
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
    return not case.healthy and case.path.suffix == ".py"


async def judged(case: Case, sandbox: Sandbox, time_limit_s: float = 60.0) -> list[Judged]:
    """Every repair of the case, in the order in which the service would offer them."""
    read = examine(case.stripped, "train.py", case.files, "")
    paths = [*case.fixed, *case.wrong]
    patched = [_changed(case, path) for path in paths]
    async with sandbox.session() as session:
        trials = await judge(read.files, read.entry, patched, session, time_limit_s)
    names = {f"given {number}": _variant(case, path) for number, path in enumerate(paths, 1)}
    return [
        Judged(names[trial.candidate.strategy], trial, place) for place, trial in enumerate(trials)
    ]


def objections(found: list[Judged]) -> list[str]:
    """Right repairs that failed, and wrong ones that would be offered in front of a right one."""
    wrong = [f"{one.name} failed: {one.why}" for one in found if one.right and not one.passed]
    best = min((one.place for one in found if one.right and one.passed), default=len(found))
    ahead = [one.name for one in found if not one.right and one.passed and one.place < best]
    return [*wrong, *(f"{name} passes in front of every right one" for name in ahead)]


def _changed(case: Case, path: Path) -> dict[str, str]:
    if case.path.name != "train.py":
        return {"train.py": strip(path)}
    texts = {module.name: strip(module) for module in path.parent.glob("*.py")}
    before = {"train.py": case.stripped, **case.files}
    return {name: text for name, text in texts.items() if text != before.get(name)}


def _variant(case: Case, path: Path) -> str:
    named = path.parent if case.path.name == "train.py" else path
    own = case.path.parent if case.path.name == "train.py" else case.path.with_suffix("")
    return named.name.removeprefix(f"{own.name}.").removesuffix(".py")
