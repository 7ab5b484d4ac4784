"""`gradmend run` around projects that have their data, arguments and packages.

    python -m benchmarks.wrapped_runs [--only NAME] [--rounds 3]
    python -m benchmarks.wrapped_runs --sizes [--rounds 3]

It prints the shares of right first causes, and of first fixes that passed when the project's own
command ran again with them, and that, applied, keep the plain command from raising the error; for
each project, how long the command takes until it has failed under the tracer (by the clock, and in
processor time, which a crowded machine changes less), and from there to the fix, all as multiples
of the plain command's. Modules are compiled before, as an installer does it.

With `--sizes`: a healthy training of 200 steps whose data set, with a helper that loops, holds 10,
1,000 and 100,000 strings; plain and checked runs take turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.project_files import ProjectCase, load_projects
from tests.run_wrapper import ROOT, call, gradmend, put_down

# `gradmend run` that says nothing of how the command ended.
UNTIL_THE_END = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from gradmend import parts
parts.join()
from gradmend.run_wrapper import main
main._look = lambda *ended: False
sys.exit(main.run(["--", *sys.argv[1:]]))
"""
CHECKED = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import gradmend.command as c; c.main()"
SIZES = (10, 1_000, 100_000)
HEALTHY = """\
import sys
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

class Words(Dataset):
    def __init__(self, count):
        self.words = [f"{'abcdefgh'[n % 8]}bcdefgh" for n in range(count)]
    def __len__(self):
        return len(self.words)
    def encode(self, word):
        return [ord(letter) - 97.0 for letter in word]
    def __getitem__(self, index):
        return torch.tensor(self.encode(self.words[index]))

words = Words(int(sys.argv[1]))
net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
sampler = RandomSampler(words, replacement=True, num_samples=200 * 16)
for x in DataLoader(words, batch_size=16, sampler=sampler):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(x).squeeze(1), x.mean(1)).backward()
    optimizer.step()
"""
LONG_S = 60.0  # a command that has not failed within so long does not fail where it did


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of the processor."""

    clock: float
    work: float


@dataclass(frozen=True)
class Measured:
    """One project. `cost`, `answer`: multiples of the plain command's time; `work`: of its
    processor time."""

    name: str
    faulty: bool
    right: bool
    fixed: bool
    cost: float
    work: float
    answer: float
    said: str


def measured(case: ProjectCase, rounds: int) -> Measured:
    """Run a project plainly, traced, and to its fix."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        command = put_down(case, home)
        plain: list[Spent] = []
        traced: list[Spent] = []
        for _ in range(rounds):
            plain.append(_spent(command, home))
            traced.append(_spent([sys.executable, "-P", "-c", UNTIL_THE_END, *command], home))
        began = time.perf_counter()
        words = ["run", "--check", "--json", "--", *command]
        ran = gradmend(words, home, timeout=900, PYTHONPATH=_installed(home))
        whole = time.perf_counter() - began
        causes = ran.findings.causes if ran.stdout.strip() else []
        first = causes[0].pattern if causes else "-"
        fixed = bool(causes) and _holds(case, command, home)
        right = first in case.patterns if case.patterns else not causes
        base, under = _least(plain), _least(traced)
        return Measured(
            case.name,
            bool(case.patterns),
            right,
            fixed,
            under.clock / base.clock,
            under.work / base.work,
            (whole - under.clock) / base.clock,
            first,
        )


def sized(items: int, rounds: int) -> tuple[Spent, Spent]:
    """The least that a plain and a checked run of a healthy training have taken."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "train.py").write_text(HEALTHY)
        command = [sys.executable, "train.py", str(items)]
        checked = [sys.executable, "-P", "-c", CHECKED, "run", "--check", "--", *command]
        runs = [(_spent(command, home), _spent(checked, home)) for _ in range(rounds)]
        plain, traced = zip(*runs, strict=True)
        return _least(list(plain)), _least(list(traced))


def _print_sizes(rounds: int) -> None:
    print(f"{'items':>9}{'plain s':>9}{'checked s':>11}{'cost':>7}{'work':>7}")
    for items in SIZES:
        plain, traced = sized(items, rounds)
        ratios = f"{traced.clock / plain.clock:>7.2f}{traced.work / plain.work:>7.2f}"
        print(f"{items:>9,}{plain.clock:>9.2f}{traced.clock:>11.2f}{ratios}", flush=True)


def _installed(home: Path) -> str:
    """A path on which a project's packages are, as where it is installed."""
    return os.pathsep.join([str(home), str(home / "src")])


def _spent(command: list[str], home: Path) -> Spent:
    """One run of a command, with all that it starts."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    call(command, home, PYTHONPATH=_installed(home))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(time.perf_counter() - began, work)


def _least(runs: list[Spent]) -> Spent:
    return Spent(min(run.clock for run in runs), min(run.work for run in runs))


def _holds(case: ProjectCase, command: list[str], home: Path) -> bool:
    """Whether the first fix passed, and the plain command no longer raises the error with it."""
    applied = gradmend(["apply", "--unsafe-fixes"], home)
    if applied.code or "✗" in applied.stderr or "✓ error gone" not in applied.stderr:
        return False
    try:
        again = call(command, home, timeout=LONG_S, PYTHONPATH=_installed(home))
    except subprocess.TimeoutExpired:  # it trains on
        return True
    return case.raises not in again.stderr if case.raises else again.code == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="a part of a project's name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", action="store_true", help="data sets of three sizes instead")
    chosen = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if chosen.sizes:
        _print_sizes(chosen.rounds)
        return
    cases = [c for c in load_projects() if not chosen.only or chosen.only in c.name]
    print(f"{'project':24}{'cause':8}{'fix':6}{'cost':>6}{'work':>6}{'answer':>8}  first cause")
    found = []
    for case in cases:
        one = measured(case, chosen.rounds)
        found.append(one)
        marks = ("right" if one.right else "wrong", "holds" if one.fixed else "-")
        figures = f"{one.cost:>6.2f}{one.work:>6.2f}{one.answer:>8.1f}"
        print(f"{one.name:24}{marks[0]:8}{marks[1]:6}{figures}  {one.said}", flush=True)
    faulty = [one for one in found if one.faulty]
    print(f"right first cause {sum(o.right for o in found)}/{len(found)}")
    print(f"first fix holds   {sum(o.fixed for o in faulty)}/{len(faulty)}")
    print(f"cost until the failure, median {median(o.cost for o in found):.2f} times the command")
    print(f"in processor time, median {median(o.work for o in found):.2f} times the command's")
    print(f"from failure to fix, median {median(o.answer for o in found):.1f} times the command")


if __name__ == "__main__":
    main()
