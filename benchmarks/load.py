"""How much one server takes: `python -m benchmarks.load [--seconds 5] [--burst 500]`.

Starts the service and, for scale, the bare framework's hello; asks both from this process, on the
same cores. Figures are of the machine at hand: read the ratios; where others want its processors,
those of the processor time that an answer takes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.memory import by_role, processor_s
from tests.case_files import load_case
from tests.processes import Server, eventually, free_port

SCRIPT = load_case("recurrent_state/char_lm").stripped
CLIENTS = (1, 8, 64)
MOST_LAG_MS = 100
HELLO = """
import fastapi, uvicorn
app = fastapi.FastAPI()
@app.post("/")
async def hello(body: dict) -> dict: return {"hello": "world"}
uvicorn.run(app, port=PORT, log_level="warning", access_log=False)
"""

Bare = tuple[str, int]
"""The address of the bare framework, and its process."""
Ask = Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]


@dataclass(frozen=True, slots=True)
class Pace:
    """Answers of 200 a second, the processor time that each takes its server and their latency in
    ms, and how many were something else."""

    clients: int
    per_second: float
    processor_ms: float
    median_ms: float
    p95_ms: float
    others: int

    def row(self, name: str) -> str:
        """A line of the table."""
        return (
            f"| {name} | {self.clients} | {self.per_second:.1f} | {self.processor_ms:.1f} "
            f"| {self.median_ms:.1f} | {self.p95_ms:.1f} | {self.others} |"
        )


async def pace(url: str, pid: int, ask: Ask, clients: int, seconds: float) -> Pace:
    """Let so many clients ask the server, each waiting for its answer, for so long."""
    until = time.monotonic() + seconds
    times: list[float] = []
    others = 0

    async def client(http: httpx.AsyncClient) -> None:
        nonlocal others
        while time.monotonic() < until:
            began = time.perf_counter()
            answer = await ask(http)
            if answer.status_code == 200:
                times.append(1000 * (time.perf_counter() - began))
            else:
                others += 1

    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as http:
        began, taken = time.monotonic(), processor_s(pid)
        await asyncio.gather(*(client(http) for _ in range(clients)))
        spent, taken = time.monotonic() - began, processor_s(pid) - taken
    ordered = sorted(times) or [0.0]
    p95 = ordered[int(len(ordered) * 0.95)]
    median, each = statistics.median(ordered), 1000 * taken / len(ordered)
    return Pace(clients, len(times) / spent, each, median, p95, others)


async def hello(http: httpx.AsyncClient) -> httpx.Response:
    """The bare framework, with a body of the same size."""
    return await http.post("/", json={"script": SCRIPT})


async def reading(http: httpx.AsyncClient) -> httpx.Response:
    """A diagnosis that only reads."""
    return await http.post("/v1/diagnoses?wait=60", json={"script": SCRIPT, "run": "never"})


async def verified(http: httpx.AsyncClient) -> httpx.Response:
    """A diagnosis that runs the script and its patches."""
    return await http.post("/v1/diagnoses?wait=60", json={"script": SCRIPT})


async def burst(server: Server, count: int) -> Counter[str]:
    """Submissions all at once: what became of each, by the last word that was heard of it."""
    limits = httpx.Limits(max_connections=count, keepalive_expiry=2)  # before the server's own
    async with httpx.AsyncClient(base_url=server.url, timeout=300, limits=limits) as http:

        async def submit() -> httpx.Response:
            return await http.post("/v1/diagnoses?wait=0", json={"script": SCRIPT})

        answers = await asyncio.gather(*(submit() for _ in range(count)), return_exceptions=True)
        fates: Counter[str] = Counter()
        for answer in answers:
            if isinstance(answer, BaseException):
                fates[f"lost: {type(answer).__name__}"] += 1
            elif answer.status_code in (200, 202):
                fates[await _fate(http, answer.json()["id"])] += 1
            else:
                clean = "retry-after" in answer.headers
                fates[f"refused with {answer.status_code}" if clean else "refused badly"] += 1
        return fates


def _letters(count: int) -> str:
    """So many lines that are all the same, which diffs and lexers like least."""
    return "0\n" * count


HOSTILE: tuple[dict[str, Any], ...] = (
    {"script": SCRIPT + _letters(6000)},
    {"script": SCRIPT + _letters(6000), "run": "never"},
    {"script": SCRIPT, "trace": "a\n" * (1 << 20)},
    {"script": SCRIPT, "trace": "{}\n" * (1 << 20)},
    {"script": SCRIPT, **{f"k{n}": 1 for n in range(100_000)}},
    {"script": "a, " * 40_000},
    {"script": SCRIPT, "traceback": "/" * 100_000},
)


async def next_to_hostile(server: Server) -> float:
    """The 99th percentile of the web process's lag, in ms, while hostile requests and honest ones
    are worked on: the upper end of the bucket that holds it."""
    before = _lags(server)
    async with httpx.AsyncClient(base_url=server.url, timeout=300) as http:
        asked = [*HOSTILE, *({"script": f"{SCRIPT}\n# {n}\n"} for n in range(len(HOSTILE)))]
        bodies = [json.dumps(body).encode() for body in asked]
        headers = {"content-type": "application/json"}
        posts = (http.post("/v1/diagnoses?wait=60", content=b, headers=headers) for b in bodies)
        await asyncio.gather(*posts)
    after = _lags(server)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    return 1000 * min(bound for bound in counts if counts[bound] >= 0.99 * max(counts.values()))


def _lags(server: Server) -> dict[float, float]:
    """How often the lag was at most so many seconds."""
    name = "gradmend_loop_lag_seconds_bucket"
    families = text_string_to_metric_families(server.http.get("/metrics").text)
    samples = (sample for family in families for sample in family.samples)
    return {float(s.labels["le"]): s.value for s in samples if s.name == name}


async def _fate(http: httpx.AsyncClient, diagnosis_id: str) -> str:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        diagnosis = (await http.get(f"/v1/diagnoses/{diagnosis_id}")).json()
        if diagnosis["status"] in ("done", "failed"):
            return f"{diagnosis['status']}: {diagnosis['verdict']}"
        await asyncio.sleep(0.2)
    return "lost: no result"


async def measure(server: Server, bare: Bare, seconds: float, count: int) -> bool:
    """Print every table; whether the event loop kept up with hostile requests."""
    at_rest = by_role(server.pid)
    print("| request | clients | answers/s | processor ms | median ms | p95 ms | not 200 |")
    print("|---|---|---|---|---|---|---|")
    for name, url, pid, ask in (
        ("hello", *bare, hello),
        ("reading", server.url, server.pid, reading),
    ):
        for clients in CLIENTS:
            print((await pace(url, pid, ask, clients, seconds)).row(name))
    run = await pace(server.url, server.pid, verified, 2, max(10.0, seconds))
    print(run.row("verified"))
    print(f"\nVerified diagnoses a minute: {60 * run.per_second:.0f}\n")
    print(f"| {count} submissions at once | number |\n|---|---|")
    for fate, number in sorted((await burst(server, count)).items()):
        print(f"| {fate} | {number} |")
    lag = await next_to_hostile(server)
    print(f"\nLag of the event loop with hostile requests, 99th percentile: ≤ {lag:.0f} ms")
    after = by_role(server.pid)
    print("\n| process | MiB at rest | MiB after |\n|---|---|---|")
    for role in sorted(at_rest | after):
        print(f"| {role} | {at_rest.get(role, 0):.0f} | {after.get(role, 0):.0f} |")
    return lag <= MOST_LAG_MS


def main() -> None:
    """Start both servers, measure, end them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5, help="for each figure")
    parser.add_argument("--burst", type=int, default=500, help="submissions at once")
    options = parser.parse_args()
    port = free_port()
    bare = subprocess.Popen([sys.executable, "-c", HELLO.replace("PORT", str(port))])
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory), log_level="warning", reuse_results="false")
        try:
            eventually(lambda: server.http.get("/readyz").status_code == 200)
            hello_at = (f"http://127.0.0.1:{port}", bare.pid)
            kept_up = asyncio.run(measure(server, hello_at, options.seconds, options.burst))
        finally:
            server.end()
            bare.terminate()
            bare.wait()
    sys.exit(not kept_up)


if __name__ == "__main__":
    main()
