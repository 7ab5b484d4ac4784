"""What a run in the warm sandbox costs compared with a cold one: `python -m benchmarks.sandbox`.

Figures are medians over several runs of one small script, taken in turn on the same machine; the
ratios are what to compare, the milliseconds depend on the machine and on what else it does.
Containers are measured where a Docker daemon answers (`DOCKER_HOST`) and has the image.
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
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

from sandbox.client import EmbeddedSandbox
from sandbox.jail.backend import Jail
from sandbox.protocol import Job, Sandbox, Session

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
TRACED = Job(files={"train.py": SCRIPT})
PLAIN = TRACED.model_copy(update={"mode": "plain"})
EMPTY = Job(files={"train.py": ""}, mode="plain")
COLD = "cold: python script.py"

Row = tuple[str, str, str]
Measure = Callable[[], Awaitable[float]]


@contextlib.contextmanager
def script_file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "train.py")
        path.write_text(SCRIPT)
        yield path


def _run_cold(path: Path) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, str(path)], check=False, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


async def cold(path: Path) -> float:
    """Seconds of a plain `python script.py`."""
    return await asyncio.to_thread(_run_cold, path)


async def warm(session: Session, job: Job) -> float:
    """Seconds of one run as the service sees it, socket and all."""
    began = time.perf_counter()
    result = await session.run(job)
    assert result.status in ("finished", "raised"), result.reason
    return time.perf_counter() - began


async def fresh(box: Sandbox) -> float:
    """Seconds of the first run of a session, for which nothing is kept ready."""
    async with box.session() as session:
        return await warm(session, TRACED)


async def rate(box: Sandbox, runs: int) -> float:
    """Traced runs per second in as many sessions at once as there are cores."""
    cores = len(os.sched_getaffinity(0))

    async def several(session: Session) -> None:
        for _ in range(runs):
            await session.run(TRACED)

    async with contextlib.AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(box.session()) for _ in range(cores)]
        await asyncio.gather(*[session.run(EMPTY) for session in sessions])
        began = time.perf_counter()
        await asyncio.gather(*[several(session) for session in sessions])
        return cores * runs / (time.perf_counter() - began)


async def raising_walls(runs: int) -> float:
    """Median seconds from the fork of a run to its script's first line."""
    jail = Jail()
    try:
        outcomes = [await jail.outcome(EMPTY) for _ in range(runs)]
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


async def in_turn(runs: int, measures: dict[str, Measure]) -> dict[str, float]:
    """Medians of several measures, each taken once a round."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(runs):
        for name, measure in measures.items():
            taken[name].append(await measure())
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def rows_of(seconds: dict[str, float]) -> list[Row]:
    """Rows of the table: what, how long, its ratio to the cold run."""
    base = seconds[COLD]
    return [(what, f"{s * 1000:.1f} ms", f"{s / base:.3f}") for what, s in seconds.items()]


async def of_jail(runs: int, path: Path) -> list[Row]:
    async with EmbeddedSandbox(options=["--queue", "1000"]) as box:
        assert (await box.readiness()).ready
        run_cold = partial(cold, path)
        measures = {COLD: run_cold, "jail, plain": partial(warm, box, PLAIN)}
        seconds = await in_turn(runs, {**measures, "jail, traced": partial(warm, box, TRACED)})
        seconds["of which forking and walls"] = await raising_walls(runs)
        per_second = await rate(box, 5 * runs)
        assert box.launcher_pid is not None
        memory = memory_mib(box.launcher_pid)
    return [
        *rows_of(seconds),
        ("jail, traced runs a second", f"{per_second:.1f}", ""),
        ("jail, launcher and zygote", f"{memory:.0f} MiB", ""),
    ]


async def of_containers(runs: int, path: Path, image: str) -> list[Row]:
    """None is kept ready, so that none is being started while others are measured."""
    options = ["--image", image, "--ready-containers", "0"]
    async with EmbeddedSandbox("container", options) as box:
        readiness = await box.readiness()
        if not readiness.ready:
            return [(f"containers were not measured: {readiness.reason}", "", "")]
        async with box.session() as session:
            await session.run(EMPTY)
            measures: dict[str, Measure] = {
                COLD: partial(cold, path),
                "container, plain": partial(warm, session, PLAIN),
                "container, traced": partial(warm, session, TRACED),
            }
            seconds = await in_turn(runs, measures)
        seconds["container, started for the run"] = await fresh(box)
        per_second = await rate(box, 5 * runs)
    return [*rows_of(seconds), ("container, traced runs a second", f"{per_second:.1f}", "")]


async def measure(runs: int, image: str) -> list[Row]:
    """The whole table; each backend with cold runs of its own."""
    with script_file() as path:
        return await of_jail(runs, path) + await of_containers(runs, path, image)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--image", default="gradmend-sandbox", help="image of the containers")
    chosen = parser.parse_args()
    rows = asyncio.run(measure(chosen.runs, chosen.image))
    print(f"{len(os.sched_getaffinity(0))} cores{'':29}{'median':>12}{'to cold':>10}")
    for what, figure, ratio in rows:
        print(f"{what:36}{figure:>12}{ratio:>10}")


if __name__ == "__main__":
    main()
