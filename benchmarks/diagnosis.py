"""A whole verified diagnosis compared with one cold `python train.py`.

    python -m benchmarks.diagnosis [--rounds 3] [--sample N [--seed S]] [BATCH …] [--image IMAGE]

Asked are the examples of the form, or N failing scripts drawn from `tests/cases` and those of each
BATCH (`benchmarks.archive`). For each, the two are timed in turn on the same machine, with the
sandbox and the reader warm, as in a running service. A row says how long each stage took and how
long the runs of each kind, all as ratios to the cold run; runs that go side by side are each
counted whole. Compare the ratios; milliseconds depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.diagnose import NoProgress, diagnose
from app.request.reader import Reader
from app.schemas import DiagnosisRequest, Patch, SourceFile
from benchmarks.archive import cases
from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Job, Readiness, RunResult, Session
from tests.case_files import load_cases

EXAMPLES = Path(__file__).parent.parent / "app" / "examples"
STAGES = ("read", "reproduce", "verify")
KINDS = ("traced", "frozen", "reference", "plain")
COLD_LIMIT_S = 120.0


@dataclass
class Timed:
    """Seconds of one script: a cold run, a whole diagnosis, its first passing patch, its stages
    and its runs."""

    name: str
    cold: float = 0.0
    whole: float = 0.0
    first: float | None = None
    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    runs: Counter[str] = field(default_factory=Counter)

    def row(self) -> str:
        """A line of the table: ratios to the cold run."""
        ratios = [self.spent[name] / self.cold for name in (*STAGES, *KINDS)]
        first = "     -" if self.first is None else f"{self.first / self.cold:6.2f}"
        cells = "".join(f"{ratio:10.2f}" for ratio in ratios)
        return (
            f"{self.name:<42}{1000 * self.cold:>8.0f}{self.whole / self.cold:7.2f}{first}"
            f"{cells}{sum(self.runs.values()):>6}"
        )


HEAD = (
    f"{'script':<42}{'cold ms':>8}{'whole':>7}{'first':>6}"
    f"{''.join(f'{name:>10}' for name in (*STAGES, *KINDS))}{'runs':>6}"
)


class Listening(NoProgress):
    """Hears when the first passing patch is reported."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.first: float | None = None

    async def patch(self, patch: Patch) -> None:
        """Remember when, if none was reported before."""
        if self.first is None and patch.verification.status == "passed":
            self.first = time.perf_counter() - self.began


class Watched:
    """A sandbox whose runs are timed by their kind."""

    def __init__(self, inner: EmbeddedSandbox, timed: Timed) -> None:
        self._inner = inner
        self._timed = timed

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """A session of the sandbox's, watched too."""
        async with self._inner.session() as session:
            yield _WatchedSession(session, self._timed)

    async def run(self, job: Job) -> RunResult:
        """One run outside any session."""
        return await _WatchedSession(self._inner, self._timed).run(job)

    async def readiness(self) -> Readiness:
        """What the sandbox says."""
        return await self._inner.readiness()

    async def close(self) -> None:
        """Its owner closes it."""


class _WatchedSession:
    def __init__(self, inner: Session, timed: Timed) -> None:
        self._inner = inner
        self._timed = timed

    async def run(self, job: Job) -> RunResult:
        began = time.perf_counter()
        try:
            return await self._inner.run(job)
        finally:
            self._timed.spent[_kind(job)] += time.perf_counter() - began
            self._timed.runs[_kind(job)] += 1


def _kind(job: Job) -> str:
    if job.mode == "plain":
        return "plain"
    if job.reference is not None:
        return "reference"
    return "frozen" if job.frozen_steps else "traced"


@contextmanager
def _on_disk(request: DiagnosisRequest) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as home:
        own = {request.filename: request.script}
        for path, text in (own | {f.path: f.content for f in request.files}).items():
            target = Path(home, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        yield home


def cold(entry: str, home: str) -> float:
    """Seconds that one plain run of the script takes, to its end or its exception."""
    began = time.perf_counter()
    command = [sys.executable, entry]
    subprocess.run(command, capture_output=True, cwd=home, check=False, timeout=COLD_LIMIT_S)
    return time.perf_counter() - began


async def measured(
    rounds: int, requests: dict[str, DiagnosisRequest], sandbox: EmbeddedSandbox
) -> None:
    """Time every script, print a row for each and the summary."""
    reader = Reader()
    rows: list[Timed] = []
    print(HEAD)
    try:
        warm = DiagnosisRequest(script="import torch\n")
        await diagnose(warm, sandbox=sandbox, reader=reader, progress=NoProgress())
        for name, request in requests.items():
            rows.append(await _median(name, request, rounds, reader, sandbox))
            print(rows[-1].row(), flush=True)
    finally:
        await reader.close()
        await sandbox.close()
    _summary(rows)


async def _median(
    name: str, request: DiagnosisRequest, rounds: int, reader: Reader, sandbox: EmbeddedSandbox
) -> Timed:
    """The round of the median ratio."""
    timed = [await _once(name, request, reader, sandbox) for _ in range(rounds)]
    return sorted(timed, key=lambda one: one.whole / one.cold)[rounds // 2]


async def _once(
    name: str, request: DiagnosisRequest, reader: Reader, sandbox: EmbeddedSandbox
) -> Timed:
    timed, heard = Timed(name), Listening()
    with _on_disk(request) as home:
        timed.cold = await asyncio.to_thread(cold, request.filename, home)
    heard.began = began = time.perf_counter()
    watched = Watched(sandbox, timed)
    found = await diagnose(request, sandbox=watched, reader=reader, progress=heard)
    timed.whole, timed.first = time.perf_counter() - began, heard.first
    timed.spent.update({stage: getattr(found.timings_ms, stage) / 1000 for stage in STAGES})
    return timed


def _summary(rows: Sequence[Timed]) -> None:
    wholes = sorted(row.whole / row.cold for row in rows)
    firsts = sorted(row.first / row.cold for row in rows if row.first is not None)
    print(f"\nBeside one cold run, of {len(rows)} scripts:")
    print(f"a whole diagnosis: median {statistics.median(wholes):.2f}, {_ends(wholes)}")
    if firsts:
        print(
            f"the first passing patch, of {len(firsts)}: "
            f"median {statistics.median(firsts):.2f}, {_ends(firsts)}"
        )
    print(f"longest diagnosis: {max(row.whole for row in rows):.1f} s")


def _ends(ratios: Sequence[float]) -> str:
    return f"90th percentile {ratios[int(0.9 * (len(ratios) - 1))]:.2f}, at most {ratios[-1]:.2f}"


def examples() -> dict[str, DiagnosisRequest]:
    """The examples of the form."""
    return {
        path.stem: DiagnosisRequest(script=path.read_text(), filename=path.name)
        for path in sorted(EXAMPLES.glob("*.py"))
    }


def sampled(count: int, seed: int, batches: Sequence[str]) -> dict[str, DiagnosisRequest]:
    """So many failing scripts of the corpus, and all of these batches."""
    corpus = [case for case in load_cases() if not case.healthy and not case.notebook]
    chosen = random.Random(seed).sample(corpus, min(count, len(corpus)))
    for batch in batches:
        chosen += [case for case in cases(batch) if not case.notebook]
    return {
        case.name: DiagnosisRequest(
            script=case.stripped,
            filename=case.entry,
            files=[SourceFile(path=path, content=text) for path, text in case.files.items()],
        )
        for case in chosen
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("batches", nargs="*", help="of the archive, or folders: all of them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=0, help="so many scripts of tests/cases")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--image", help="in containers of this image, instead of the jail")
    chosen = parser.parse_args()
    asked = chosen.sample or chosen.batches
    requests = sampled(chosen.sample, chosen.seed, chosen.batches) if asked else examples()
    in_containers = ("container", ["--image", chosen.image])
    sandbox = EmbeddedSandbox(*in_containers) if chosen.image else EmbeddedSandbox()
    asyncio.run(measured(chosen.rounds, requests, sandbox))


if __name__ == "__main__":
    main()
