"""How much one server takes: `python -m benchmarks.load [--seconds 5] [--burst 500]`.

Starts the service and, for scale, the bare framework's hello; asks both from this process, on the
same cores. Figures are of the machine at hand: read the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.memory import by_role
from tests.case_files import ROOT, strip
from tests.processes import Server, eventually, free_port

SCRIPT = strip(ROOT / "recurrent_state" / "char_lm.py")
CLIENTS = (1, 8, 64)
HELLO = """
import fastapi, uvicorn
app = fastapi.FastAPI()
@app.post("/")
async def hello(body: dict) -> dict: return {"hello": "world"}
uvicorn.run(app, port=PORT, log_level="warning", access_log=False)
"""

Ask = Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]


@dataclass(frozen=True, slots=True)
class Pace:
    """Answers of 200 a second, their latency in ms, and how many were something else."""

    clients: int
    per_second: float
    median_ms: float
    p95_ms: float
    others: int

    def row(self, name: str) -> str:
        """A line of the table."""
        return (
            f"| {name} | {self.clients} | {self.per_second:.1f} | {self.median_ms:.1f} "
            f"| {self.p95_ms:.1f} | {self.others} |"
        )


async def pace(url: str, ask: Ask, clients: int, seconds: float) -> Pace:
    """Let so many clients ask, each waiting for its answer, for so long."""
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
        began = time.monotonic()
        await asyncio.gather(*(client(http) for _ in range(clients)))
        spent = time.monotonic() - began
    ordered = sorted(times) or [0.0]
    p95 = ordered[int(len(ordered) * 0.95)]
    return Pace(clients, len(times) / spent, statistics.median(ordered), p95, others)


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


async def _fate(http: httpx.AsyncClient, diagnosis_id: str) -> str:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        diagnosis = (await http.get(f"/v1/diagnoses/{diagnosis_id}")).json()
        if diagnosis["status"] in ("done", "failed"):
            return f"{diagnosis['status']}: {diagnosis['verdict']}"
        await asyncio.sleep(0.2)
    return "lost: no result"


async def measure(server: Server, hello_url: str, seconds: float, count: int) -> None:
    """Print every table."""
    at_rest = by_role(server.pid)
    print("| request | clients | answers/s | median ms | p95 ms | not 200 |")
    print("|---|---|---|---|---|---|")
    for name, url, ask in (("hello", hello_url, hello), ("reading", server.url, reading)):
        for clients in CLIENTS:
            print((await pace(url, ask, clients, seconds)).row(name))
    run = await pace(server.url, verified, 2, max(10.0, seconds))
    print(run.row("verified"))
    print(f"\nVerified diagnoses a minute: {60 * run.per_second:.0f}\n")
    print(f"| {count} submissions at once | number |\n|---|---|")
    for fate, number in sorted((await burst(server, count)).items()):
        print(f"| {fate} | {number} |")
    after = by_role(server.pid)
    print("\n| process | MiB at rest | MiB after |\n|---|---|---|")
    for role in sorted(at_rest | after):
        print(f"| {role} | {at_rest.get(role, 0):.0f} | {after.get(role, 0):.0f} |")


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
            address = f"http://127.0.0.1:{port}"
            asyncio.run(measure(server, address, options.seconds, options.burst))
        finally:
            server.end()
            bare.terminate()
            bare.wait()


if __name__ == "__main__":
    main()
