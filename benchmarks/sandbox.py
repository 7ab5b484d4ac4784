"""What a run in the warm sandbox costs beside a cold one: `python -m benchmarks.sandbox`.

Figures are medians over several runs of one small script, taken in turn on the same machine; the
ratios are what to compare, the milliseconds depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sandbox.client import EmbeddedSandbox
from sandbox.jail.backend import Jail
from sandbox.protocol import Job

SCRIPT = """
import torch
from torch import nn

lstm, head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*lstm.parameters(), *head.parameters()], lr=0.1)
hidden = None
for step in range(5):
    output, hidden = lstm(torch.randn(4, 10, 8), hidden)
    loss = head(output).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
EMPTY = ""


@contextlib.contextmanager
def script_file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "train.py")
        path.write_text(SCRIPT)
        yield path


def cold(path: Path) -> float:
    """Seconds of a plain `python script.py`."""
    began = time.perf_counter()
    subprocess.run([sys.executable, str(path)], check=False, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


async def warm(box: EmbeddedSandbox, job: Job) -> float:
    """Seconds of one run as the service sees it, socket and all."""
    began = time.perf_counter()
    result = await box.run(job)
    assert result.status in ("finished", "raised"), result.reason
    return time.perf_counter() - began


async def rate(box: EmbeddedSandbox, job: Job, runs: int) -> float:
    """Runs per second with as many at once as there are cores."""
    began = time.perf_counter()
    await asyncio.gather(*[box.run(job) for _ in range(runs)])
    return runs / (time.perf_counter() - began)


async def raising_walls(runs: int) -> float:
    """Median seconds from the fork of a run to its script's first line."""
    jail = Jail()
    try:
        job = Job(files={"train.py": EMPTY}, mode="plain")
        outcomes = [await jail.outcome(job) for _ in range(runs)]
    finally:
        await jail.close()
    return statistics.median(outcome.raising_s for outcome in outcomes)


def memory_mib(pid: int) -> float:
    """Proportional set size of a process and all below it."""
    total = sum(_proportional_kib(process) for process in [pid, *_below(pid)])
    return total / 1024


def _proportional_kib(pid: int) -> int:
    lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _below(pid: int) -> list[int]:
    children = _read(f"/proc/{pid}/task/{pid}/children").split()
    return [below for child in map(int, children) for below in (child, *_below(child))]


def _read(path: str) -> str:
    """A file of a process, or nothing when the process has just gone."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


async def measure(runs: int) -> list[tuple[str, str, str]]:
    """Rows of the table: what, how much, its ratio to the cold run."""
    job = Job(files={"train.py": SCRIPT})
    plain = job.model_copy(update={"mode": "plain"})
    with script_file() as path:
        async with EmbeddedSandbox(options=["--queue", "1000"]) as box:
            assert (await box.readiness()).ready
            colds, plains, traced = [], [], []
            for _ in range(runs):
                colds.append(await asyncio.to_thread(cold, path))
                plains.append(await warm(box, plain))
                traced.append(await warm(box, job))
            per_second = await rate(box, job, 10 * runs)
            assert box.launcher_pid is not None
            memory = memory_mib(box.launcher_pid)
    walls = await raising_walls(runs)
    base = statistics.median(colds)
    seconds = {
        "cold: python script.py": base,
        "jail, plain": statistics.median(plains),
        "jail, traced": statistics.median(traced),
        "of which forking and walls": walls,
    }
    rows = [(what, f"{s * 1000:.1f} ms", f"{s / base:.3f}") for what, s in seconds.items()]
    cores = len(os.sched_getaffinity(0))
    rows.append((f"traced runs a second, {cores} cores", f"{per_second:.1f}", ""))
    rows.append(("launcher and zygote, memory", f"{memory:.0f} MiB", ""))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    rows = asyncio.run(measure(parser.parse_args().runs))
    print(f"{'':36}{'median':>12}{'to cold':>10}")
    for what, figure, ratio in rows:
        print(f"{what:36}{figure:>12}{ratio:>10}")


if __name__ == "__main__":
    main()
