"""The container backend against a real Docker daemon: its life, its deaths, what stays behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import docker  # type: ignore[import-untyped]
import pytest
import pytest_asyncio

from sandbox.client import EmbeddedSandbox
from sandbox.container.docker_engine import LABEL
from sandbox.protocol import Job, Session
from tests import composing
from tests.integration.test_sandbox_deaths import SLEEP, named, until
from tests.relay import relayed

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.docker]

IMAGE = "gradmend-sandbox-apart"  # the containers of other tests are not counted, nor killed
HELLO = Job(files={"train.py": "import torch; print(torch.ones(2).sum())"}, mode="plain")
REUSE = """
import torch
weight = torch.ones(2, requires_grad=True)
loss = weight.exp().sum()
loss.backward()
loss.backward()
"""


@pytest.fixture(scope="module")
def client(docker_host: str) -> Iterator[Any]:
    """The daemon, in which `IMAGE` is the sandbox's."""
    connection = docker.DockerClient(base_url=docker_host)
    apart = BytesIO(f"FROM {composing.SANDBOX}\nLABEL apart=yes\n".encode())
    connection.images.build(fileobj=apart, tag=IMAGE, rm=True)
    yield connection
    connection.close()


def sandbox_of(*options: str, image: str = IMAGE) -> EmbeddedSandbox:
    return EmbeddedSandbox("container", ["--image", image, "--ready-containers", "1", *options])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(client: Any) -> AsyncIterator[EmbeddedSandbox]:
    async with sandbox_of() as embedded:
        readiness = await embedded.readiness()
        assert readiness.ready, readiness.reason
        yield embedded


def containers(client: Any) -> set[str]:
    """Those of this test's image; others may use the same daemon."""
    ours = {"label": LABEL, "ancestor": IMAGE}
    return {found["Id"] for found in client.api.containers(all=True, filters=ours)}


async def test_a_traced_run(box: EmbeddedSandbox) -> None:
    result = await box.run(Job(files={"train.py": REUSE}))
    assert result.status == "raised"
    assert result.raised is not None
    assert [frame.line for frame in result.raised.frames if frame.file == "train.py"] == [6]
    assert result.trace is not None
    assert result.trace.reuse is not None
    assert result.backend == "container"
    assert {"no-network", "landlock", "seccomp", "no-capabilities"} <= set(result.walls)


async def where(session: Session) -> str:
    """Which container a run is in: its namespace, whose number is used again, and when it began."""
    source = """
import os
print(os.readlink("/proc/self/ns/pid"), open("/proc/1/stat").read().split()[21])
"""
    return (await session.run(Job(files={"train.py": source}, mode="plain"))).stdout_tail


async def test_runs_of_a_session_share_a_container_that_nobody_else_gets(
    box: EmbeddedSandbox, client: Any
) -> None:
    before = containers(client)
    async with box.session() as one, box.session() as other:
        first, second = await where(one), await where(other)
        assert first.startswith("pid:")
        assert first != second
        assert [await where(one), await where(other)] == [first, second]
        assert await where(box) not in (first, second)
        held = containers(client)
    await until(lambda: len(containers(client) & (before | held)) <= 1)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("while True: pass", "timed_out"),
        ("x = [b'x' * (8 << 20) for _ in range(1000)]", "limit_hit"),
    ],
    ids=["time", "memory"],
)
async def test_after_a_run_that_was_ended_a_session_takes_another_container(
    box: EmbeddedSandbox, source: str, status: str
) -> None:
    async with box.session() as session:
        first = await where(session)
        ended = await session.run(
            Job(files={"train.py": source}, mode="plain", time_limit_s=5, memory_mib=512)
        )
        assert ended.status == status
        second = await where(session)
        assert second.startswith("pid:")
        assert second != first


async def test_a_session_outlives_its_container(box: EmbeddedSandbox, client: Any) -> None:
    async with box.session() as session:
        first = await where(session)
        killed = set()
        for each in containers(client):
            with contextlib.suppress(docker.errors.APIError):  # it does not run yet
                client.api.kill(each)
                killed.add(each)
        await until(lambda: not killed & containers(client))
        second = await where(session)
        assert second.startswith("pid:")
        assert second != first


async def test_cancelling_a_run_ends_it_and_not_the_session(box: EmbeddedSandbox) -> None:
    sleeping = Job(files={"train.py": SLEEP.format(name="gm-contained")}, mode="plain")
    async with box.session() as session:
        running = asyncio.create_task(session.run(sleeping))
        await until(lambda: named("gm-contained"))
        running.cancel()
        assert (await session.run(HELLO)).stdout_tail == "tensor(2.)\n"
        await until(lambda: not named("gm-contained"))


async def test_runs_that_wait_for_their_session_hold_up_no_others(client: Any) -> None:
    sleeping = Job(files={"train.py": SLEEP.format(name="gm-turns")}, mode="plain", time_limit_s=60)
    async with sandbox_of("--concurrency", "2") as box, box.session() as session:
        runs = [asyncio.create_task(session.run(sleeping)) for _ in range(4)]
        await until(lambda: named("gm-turns"))
        assert (await box.run(HELLO)).stdout_tail == "tensor(2.)\n"
        assert len(named("gm-turns")) == 1
        for run in runs:
            run.cancel()


async def test_a_session_that_waits_for_its_container_holds_up_no_others(client: Any) -> None:
    one_slot = sandbox_of("--concurrency", "1", "--ready-containers", "0")
    async with one_slot as box, box.session() as warm, box.session() as cold:
        assert (await warm.run(HELLO)).stdout_tail == "tensor(2.)\n"
        waiting = asyncio.create_task(cold.run(HELLO))
        assert (await warm.run(HELLO)).stdout_tail == "tensor(2.)\n"
        assert not waiting.done()  # nor for long after, but that is up to the machine
        assert (await waiting).stdout_tail == "tensor(2.)\n"


async def test_runs_of_a_session_are_as_deterministic_as_the_script(box: EmbeddedSandbox) -> None:
    source = "import torch; print(torch.randn(3), hash('text'), list({'a', 'b', 'c'}))"
    async with box.session() as session:
        job = Job(files={"train.py": source})
        results = [await session.run(job) for _ in range(3)] + [await box.run(job)]
        assert len({result.stdout_tail for result in results}) == 1


async def test_containers_are_made_as_promised(box: EmbeddedSandbox, client: Any) -> None:
    await box.readiness()
    while len(waiting := containers(client)) != 1:
        await asyncio.sleep(0.1)
    made = client.api.inspect_container(waiting.pop())
    host = made["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"]
    assert host["CapDrop"] == ["ALL"]
    assert "no-new-privileges" in host["SecurityOpt"]
    assert 0 < host["PidsLimit"] < 256
    assert 0 < host["Memory"] < 4 << 30
    assert not host["Binds"]
    assert not host["Privileged"]
    assert made["Config"]["User"] == "65534:65534"


async def test_no_container_outlives_its_launcher(client: Any) -> None:
    before = containers(client)
    async with sandbox_of() as box:
        assert (await box.run(HELLO)).stdout_tail == "tensor(2.)\n"
        assert containers(client) - before
        assert box.launcher_pid is not None
        os.kill(box.launcher_pid, signal.SIGKILL)
        while containers(client) - before:
            await asyncio.sleep(0.1)
        assert (await box.run(HELLO)).stdout_tail == "tensor(2.)\n"
    while containers(client) - before:
        await asyncio.sleep(0.1)


async def test_an_image_that_is_not_there_is_said(client: Any) -> None:
    async with sandbox_of(image="nowhere/nothing:at-all") as box:
        readiness = await box.readiness()
        assert not readiness.ready
        assert "nowhere/nothing" in (readiness.reason or "")
        assert (await box.run(HELLO)).status == "unavailable"


async def test_a_runtime_that_is_not_there_is_said(client: Any) -> None:
    async with sandbox_of("--runtime", "no-such-runtime") as box:
        readiness = await box.readiness()
        assert not readiness.ready
        assert "no-such-runtime" in (readiness.reason or "")


async def test_an_engine_that_goes_away_is_said_and_found_again(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, path = os.environ["DOCKER_HOST"], tmp_path / "engine.sock"
    if not source.startswith("unix://"):
        pytest.skip("the engine is not behind a UNIX socket")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    async with sandbox_of() as box, box.session() as session:
        async with relayed(source.removeprefix("unix://"), path):
            assert (await session.run(HELLO)).stdout_tail == "tensor(2.)\n"
        gone = await session.run(HELLO)
        assert gone.status == "unavailable"
        assert "no container could be started" in (gone.reason or "")
        async with relayed(source.removeprefix("unix://"), path):
            assert (await session.run(HELLO)).stdout_tail == "tensor(2.)\n"
