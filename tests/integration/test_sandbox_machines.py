"""Machines that grant less: an ordinary user, no Landlock, no namespaces, no container engine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Job

MACHINES = Path(__file__).with_name("poorer_machines.py")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can set up such a machine")

HELLO = Job(files={"train.py": "import torch, os; print(torch.ones(2).sum(), os.getuid())"})


def sandbox_in(machine: str, *options: str) -> EmbeddedSandbox:
    return EmbeddedSandbox(program=[sys.executable, str(MACHINES), machine], options=list(options))


@needs_root
async def test_an_ordinary_user_gets_every_wall() -> None:
    async with EmbeddedSandbox() as privileged, sandbox_in("nobody") as ordinary:
        expected, readiness = await privileged.readiness(), await ordinary.readiness()
        assert readiness.ready, readiness.reason
        assert readiness.walls == expected.walls
        result = await ordinary.run(HELLO)
        assert (result.status, result.stdout_tail) == ("finished", "tensor(2.) 65534\n")
        hoard = "x = []\nwhile True: x.append(b'x' * (8 << 20))"
        result = await ordinary.run(Job(files={"train.py": hoard}, memory_mib=512))
        assert (result.status, result.limit) == ("limit_hit", "memory")


@pytest.mark.rotating(4)
@needs_root
async def test_without_landlock_nothing_runs_unless_the_operator_says_so() -> None:
    async with sandbox_in("no-landlock") as box:
        readiness = await box.readiness()
        assert not readiness.ready
        assert "landlock" in (readiness.reason or "")
        result = await box.run(HELLO)
        assert result.status == "unavailable"
        assert "landlock" in (result.reason or "")
        assert result.stdout_tail == ""


@pytest.mark.rotating(4)
@needs_root
async def test_an_allowed_gap_is_named() -> None:
    async with sandbox_in("no-landlock", "--allow-missing", "landlock") as box:
        readiness = await box.readiness()
        assert readiness.ready
        assert "landlock" not in readiness.walls
        assert "landlock" in (readiness.reason or "")
        result = await box.run(HELLO)
        assert result.status == "finished"
        assert "landlock" not in result.walls
        assert "seccomp" in result.walls


@pytest.mark.rotating(4)
@needs_root
async def test_without_namespaces_nothing_runs() -> None:
    async with sandbox_in("no-namespaces") as box:
        readiness = await box.readiness()
        assert not readiness.ready
        assert "namespace" in (readiness.reason or "")
        result = await box.run(HELLO)
        assert result.status == "unavailable"
        assert result.reason == readiness.reason


async def test_without_a_container_engine_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    async with EmbeddedSandbox("container", ["--image", "gradmend-sandbox"]) as box:
        assert not (await box.readiness()).ready
        result = await box.run(HELLO)
        assert result.status == "unavailable"
        assert "engine" in (result.reason or "")
