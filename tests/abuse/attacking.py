"""How an attack is made, and what must hold after every one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import textwrap
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Job, RunResult, Session

HONEST = """
import torch
from torch.utils.data import DataLoader, TensorDataset

weight = torch.ones(3, requires_grad=True)
for (batch,) in DataLoader(TensorDataset(torch.ones(4, 3)), batch_size=2):
    (batch * weight).sum().backward()
print("honest", weight.grad.tolist())
"""
HONEST_OUTPUT = "honest [4.0, 4.0, 4.0]\n"


@dataclass(frozen=True)
class Runs:
    """Where scripts are run: a sandbox, or a session with one."""

    place: Session

    async def run(self, source: str, **fields: object) -> RunResult:
        """Run `source` plainly, unless `fields` of the job say otherwise; no more than that."""
        settings = {"mode": "plain", "time_limit_s": 10.0, **fields}
        job = {"files": {"train.py": textwrap.dedent(source)}, **settings}
        return await self.place.run(Job.model_validate(job))


@dataclass(frozen=True)
class Target:
    """The sandbox under attack, and a session that all attacks share: each then also meets what
    the one before it left."""

    box: EmbeddedSandbox
    backend: str
    shared: Runs

    async def run(self, source: str, **fields: object) -> RunResult:
        """Run `source` by itself."""
        return await Runs(self.box).run(source, **fields)

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[Runs]:
        async with self.box.session() as session:
            yield Runs(session)

    async def attack(self, source: str, **fields: object) -> RunResult:
        """Run `source`, then assert that an honest script still gets its honest result.

        Both are runs of one session, in which they are nearest to one another.
        """
        result = await self.shared.run(source, **fields)
        assert result.status != "unavailable", result.reason
        honest = await self.shared.run(HONEST)
        assert (honest.status, honest.stdout_tail) == ("finished", HONEST_OUTPUT), honest
        return result


def processes_named(name: str) -> list[int]:
    """Pids of this machine's processes that call themselves `name` (at most 15 characters)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                comm = (entry / "comm").read_text().strip()
            except OSError:
                continue
            if comm == name[:15]:
                found.append(int(entry.name))
    return found


async def all_ended(name: str) -> None:
    """Wait until no process calls itself `name`: a killed container's end a little after it."""
    async with asyncio.timeout(60):
        while processes_named(name):
            await asyncio.sleep(0.1)


def unique_name() -> str:
    return "gm" + os.urandom(5).hex()


CALL_ME = """
import ctypes
ctypes.CDLL(None).prctl(15, {name!r}.encode(), 0, 0, 0)
"""
