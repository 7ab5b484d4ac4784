"""Whether anything is left behind.

    python -m benchmarks.soak [--count 2000] [--looks 10] [--minutes M]

Starts a service and sends it mixed diagnoses, four at a time: honest ones, hostile ones, and ones
that are deleted while they go on. Most are small, since what is left behind by a request does not
grow with its length: of the honest ones half are only read, and of those that are run most are
healthy. Prints, at intervals, the memory of each kind of process (Pss), open descriptors,
processes, zombies and temporary files, and in the end what became of each kind of request. Ends
with 1 where more descriptors, processes or files are left behind than a third of the way through.
After M minutes no more is sent.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.load import HOSTILE, SCRIPT
from benchmarks.memory import by_role
from tests.processes import Server, children, eventually

AT_ONCE = 4
HEALTHY = "import torch\nw = torch.ones(3, requires_grad=True)\n(w * w).sum().backward()\n"
ATTACKS = (
    "import os\nwhile True:\n    os.fork()\n",
    "x = []\nwhile True:\n    x.append(bytearray(1 << 22))\n",
    "import sys\nwhile True:\n    sys.stdout.write('x' * 65536)\n",
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n",
    "import os\nkeep = [os.open('/dev/null', 0) for _ in range(10_000)]\n",
    "open('/tmp/full', 'wb').write(bytes(1 << 28))\n",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "while True: pass\n",
)


@dataclass(frozen=True, slots=True)
class Left:
    """What a service holds at a moment."""

    descriptors: int
    processes: int
    zombies: int
    files: int

    @classmethod
    def of(cls, server: Server, places: list[Path]) -> Left:
        """Count what belongs to the server and its descendants, and the files in these places."""
        own = {server.pid, *children(server.pid)}
        return cls(
            descriptors=sum(_descriptors(pid) for pid in own),
            processes=len(own),
            zombies=_zombies(own),
            files=sum(len(list(place.iterdir())) for place in places),
        )

    def beyond(self, other: Left) -> bool:
        """Whether more is left than at another moment, but for a few that come and go."""
        return (
            self.descriptors > other.descriptors + 24
            or self.processes > other.processes + 4
            or self.zombies > other.zombies + 2
            or self.files > other.files + 4
        )


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _zombies(parents: set[int]) -> int:
    found = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(") ")[2].split()[:2]
        except OSError:
            continue
        found += state == "Z" and int(parent) in parents
    return found


def body(number: int) -> tuple[str, dict[str, Any]]:
    """The kind of the n-th request, and the request; no two are the same."""
    chance = random.Random(number)
    mark = f"\n# {number}\n"
    kind = chance.choices(["honest", "cancelled", "hostile"], [60, 20, 20])[0]
    if kind == "hostile" and chance.random() < 0.8:
        return "hostile script", {"script": chance.choice(ATTACKS) + mark, "time_limit_s": 1}
    if kind == "hostile":
        asked = dict(chance.choice(HOSTILE))
        return "hostile request", {**asked, "script": asked["script"] + mark}
    if chance.random() < 0.5:
        return f"{kind}, read", {"script": SCRIPT + mark, "run": "never"}
    text = chance.choices([SCRIPT, HEALTHY], [1, 2])[0]
    return f"{kind}, run", {"script": text + mark}


async def one(http: httpx.AsyncClient, number: int) -> str:
    """Send it, and see it to its end; what became of it."""
    kind, asked = body(number)
    cancelled = kind.startswith("cancelled")
    wait = 0 if cancelled else 60
    answer = await http.post(f"/v1/diagnoses?wait={wait}", json=asked)
    if answer.status_code not in (200, 202):
        return f"{kind}: {answer.status_code}"
    found = answer.json()
    if cancelled:
        await asyncio.sleep(random.Random(-number).random())
        gone = await http.delete(f"/v1/diagnoses/{found['id']}")
        return f"{kind}: {gone.status_code}"
    while found["status"] not in ("done", "failed"):
        await asyncio.sleep(0.2)
        found = (await http.get(f"/v1/diagnoses/{found['id']}")).json()
    return f"{kind}: {found['status']}, {found['verdict']}{_why(found)}"


def _why(found: dict[str, Any]) -> str:
    """How the run of an inconclusive diagnosis ended."""
    unsure = found["verdict"] == "inconclusive" and found["run"] is not None
    return f" ({found['run']['status']})" if unsure else ""


async def soak(server: Server, count: int, looks: int, minutes: float, places: list[Path]) -> bool:
    """Send everything, or what time allows; whether what is held stays level."""
    until = time.monotonic() + 60 * minutes
    print("| done | MiB web | launcher | warm parent | readers | other "
          "| descriptors | processes | zombies | files |")  # fmt: skip
    print("|" + "---|" * 10)
    fates: Counter[str] = Counter()
    seen: list[Left] = []
    async with httpx.AsyncClient(base_url=server.url, timeout=300) as http:
        for start in range(0, count, step := max(1, count // looks)):
            numbers = iter(range(start, min(count, start + step)))

            async def client(numbers: Any = numbers) -> None:
                for number in numbers:
                    if time.monotonic() > until:
                        return
                    fates[await one(http, number)] += 1

            await asyncio.gather(*(client() for _ in range(AT_ONCE)))
            await asyncio.sleep(1)  # what was cancelled has let go by then
            seen.append(Left.of(server, places))
            print(_row(server, fates.total(), seen[-1]), flush=True)
            if time.monotonic() > until:
                break
    for fate, number in sorted(fates.items()):
        print(f"{number:>6} {fate}")
    return not seen[-1].beyond(seen[len(seen) // 3])


def _row(server: Server, done: int, left: Left) -> str:
    roles = by_role(server.pid)
    named = ("web", "sandbox launcher", "warm parent of the runs", "readers")
    sizes = [roles.pop(role, 0.0) for role in named] + [sum(roles.values())]
    cells = [f"{size:.0f}" for size in sizes]
    cells += [str(n) for n in (left.descriptors, left.processes, left.zombies, left.files)]
    return f"| {done} | {' | '.join(cells)} |"


def main() -> None:
    """Start a service, soak it, end it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="diagnoses")
    parser.add_argument("--looks", type=int, default=10, help="rows")
    parser.add_argument("--minutes", type=float, default=math.inf, help="at most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as scratch:
        settings = {"log_level": "error", "queue_limit": 1000}
        os.environ["TMPDIR"] = scratch  # what the service leaves there is counted
        server = Server(Path(directory), **settings)
        try:
            eventually(lambda: server.http.get("/readyz").status_code == 200, 600)
            places = [Path(directory), Path(scratch)]
            level = asyncio.run(soak(server, options.count, options.looks, options.minutes, places))
        finally:
            server.end()
    print("level" if level else "more is left behind than before")
    sys.exit(not level)


if __name__ == "__main__":
    main()
