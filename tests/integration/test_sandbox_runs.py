"""What honest scripts may do within the walls, and what a run reports of them."""

from __future__ import annotations

import asyncio
import os
import textwrap
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandbox.client import EmbeddedSandbox
from sandbox.jail import parents
from sandbox.jail.zygote import ENTRY
from sandbox.protocol import Job, RunResult
from sandbox.wire import WireError
from tests.processes import children

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box() -> AsyncIterator[EmbeddedSandbox]:
    async with EmbeddedSandbox(options=["--concurrency", "2", "--queue", "1"]) as embedded:
        yield embedded


def job(source: str, **fields: object) -> Job:
    settings = {"mode": "plain", "files": {"train.py": textwrap.dedent(source)}, **fields}
    return Job.model_validate(settings)


WORKING = {
    "loader with workers": """
        import torch
        from torch.utils.data import DataLoader
        loader = DataLoader(torch.arange(8.0), batch_size=2, num_workers=2)
        print(sum(float(batch.sum()) for batch in loader) == 28)
    """,
    "pool of processes": """
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(2) as pool:
            print(list(pool.map(abs, [-1, -2])) == [1, 2])
    """,
    "spawned process": """
        import multiprocessing
        if __name__ == "__main__":
            process = multiprocessing.get_context("spawn").Process(target=print, args=(1,))
            process.start()
            process.join()
            print(process.exitcode == 0)
    """,
    "threads": """
        import threading, torch
        weight = torch.ones(2, requires_grad=True)
        workers = [threading.Thread(target=lambda: (weight * 2).sum().backward()) for _ in range(4)]
        for worker in workers: worker.start()
        for worker in workers: worker.join()
        print(weight.grad.tolist() == [8.0, 8.0])
    """,
    "many torch threads": """
        import torch
        torch.set_num_threads(4)
        print(float((torch.ones(512, 512) @ torch.ones(512, 512))[0, 0]) == 512)
    """,
    "compiled function": """
        import torch
        double = torch.compile(lambda x: x * 2, backend="eager")
        print(double(torch.ones(2)).tolist() == [2.0, 2.0])
    """,
    "temporary files": """
        import tempfile, torch
        with tempfile.NamedTemporaryFile() as file:
            torch.save(torch.ones(2), file.name)
            print(torch.load(file.name).tolist() == [1.0, 1.0])
    """,
    "process group": """
        import os, torch, torch.distributed as dist
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
        dist.init_process_group("gloo", rank=0, world_size=1)
        total = torch.ones(1)
        dist.all_reduce(total)
        print(total.item() == 1)
    """,
    "modules of the project": """
        from package.part import answer
        print(answer == 42)
    """,
}


@pytest.mark.parametrize("thing", WORKING)
async def test_honest_scripts_work(box: EmbeddedSandbox, thing: str) -> None:
    files = {"train.py": textwrap.dedent(WORKING[thing]), "package/part.py": "answer = 42\n"}
    result = await box.run(job("", files=files))
    assert result.status == "finished", result.stderr_tail
    assert result.stdout_tail.splitlines()[-1] == "True"
    assert not result.stderr_tail


async def test_a_raising_script(box: EmbeddedSandbox) -> None:
    source = """
        import torch
        def walk(loss):
            loss.backward()
        loss = torch.ones(2, requires_grad=True).exp().sum()
        walk(loss)
        walk(loss)
    """
    for mode in ("plain", "trace"):
        result = await box.run(job(source, mode=mode))
        assert (result.status, result.exit_code) == ("raised", 1)
        assert result.raised is not None
        assert result.raised.type == "RuntimeError"
        assert "second time" in result.raised.message
        ours = [frame for frame in result.raised.frames if frame.file == "train.py"]
        assert [(frame.line, frame.function) for frame in ours] == [(7, "<module>"), (4, "walk")]
        assert result.raised.frames[-1].file.startswith("torch/")
        assert result.stderr_tail.endswith(result.raised.traceback)


async def test_a_crash_is_distinguished_from_an_exception(box: EmbeddedSandbox) -> None:
    result = await box.run(job("import os; os.abort()"))
    assert (result.status, result.exit_code) == ("raised", -6)
    assert result.raised is not None
    assert result.raised.type == "Signal"


async def test_results_name_backend_walls_and_measures(box: EmbeddedSandbox) -> None:
    result = await box.run(job("import select; select.select([], [], [], 0.2); print('x')"))
    assert result.backend == "jail"
    assert {"landlock", "seccomp", "no-network", "user-namespace"} <= set(result.walls)
    assert result.duration_s >= 0.2
    assert result.peak_memory_mib > 10


async def test_a_traced_run_is_as_deterministic_as_the_script(box: EmbeddedSandbox) -> None:
    source = "import torch; print(torch.randn(3), hash('text'), list({'a', 'b', 'c'}))"
    first, second = [await box.run(job(source)) for _ in range(2)]
    assert first.stdout_tail == second.stdout_tail


async def test_more_runs_than_places_wait_or_are_refused(box: EmbeddedSandbox) -> None:
    jobs = [
        box.run(job("import select; select.select([], [], [], 0.5); print('done')"))
        for _ in range(6)
    ]
    results: list[RunResult] = await asyncio.gather(*jobs)
    done = [result for result in results if result.status == "finished"]
    refused = [result for result in results if result.status == "unavailable"]
    assert len(done) == 3
    assert len(refused) == 3
    assert all("busy" in (result.reason or "") for result in refused)


@pytest.mark.rotating(4)
async def test_worn_zygotes_are_replaced_without_losing_a_run() -> None:
    async with EmbeddedSandbox(options=["--runs-per-parent", "2"]) as box:
        source = "print('ran')"
        results = await asyncio.gather(*[box.run(job(source)) for _ in range(5)])
        assert [result.stdout_tail for result in results] == ["ran\n"] * 5


@pytest.mark.rotating(4)
async def test_an_interpreter_that_cannot_be_warmed_is_said() -> None:
    async with EmbeddedSandbox(options=["--entry", "nowhere:run"]) as box:
        readiness = await box.readiness()
        assert not readiness.ready
        assert "nowhere" in (readiness.reason or "")
        assert (await box.run(job("print()"))).status == "unavailable"


@pytest.mark.rotating(4)
async def test_a_parent_that_does_not_get_warm_in_time_is_said_and_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parents, "_WARM_UP_S", 0.01)  # Python alone takes longer to start
    before = children(os.getpid())
    with pytest.raises(WireError, match=r"did not get warm within 0\.01 s"):
        await parents.Zygote.start(ENTRY)
    assert children(os.getpid()) <= before


@pytest.mark.rotating(4)
@pytest.mark.parametrize(
    ("imported", "needed", "others", "absent"),
    [
        ("dgl", "import lightning", "import gym", "vllm"),  # Gymnasium takes gym's place
        ("sklearn.svm", "from sklearn.model_selection import KFold", "import pandas", "peft"),
        ("transformers.trainer", "from transformers import AutoModel", "import peft", "sklearn"),
    ],
)
async def test_packages_are_imported_once_for_many_runs(
    box: EmbeddedSandbox, imported: str, needed: str, others: str, absent: str
) -> None:
    """A run that imports one of them is soon forked from a parent that has imported it, and as
    little else as a parent of its kind has."""
    shows = f"import os, sys\nprint({imported!r} in sys.modules, {absent!r} in sys.modules)\n"
    async with asyncio.timeout(120):
        while (result := await box.run(job(shows + needed))).stdout_tail != "True False\n":
            assert result.status == "finished"
    assert (await box.run(job(shows))).stdout_tail == "False False\n"
    assert (await box.run(job(shows + others))).stdout_tail == "True False\n"


@pytest.mark.rotating(4)
async def test_a_parent_of_a_group_ends_when_nobody_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = children(os.getpid())
    monkeypatch.setattr(parents, "_IDLE_S", 0.01)
    kept, of_group = parents.Parent(ENTRY, 9), parents.Parent(ENTRY, 9, "data")
    zygotes = [await each.warm() for each in (kept, of_group)]
    assert [kept.ready(), of_group.ready()] == zygotes
    async with asyncio.timeout(60):
        assert await zygotes[1].process.wait() == 0
    assert zygotes[0].alive
    for each in (kept, of_group):
        await each.close()
    assert children(os.getpid()) <= before


@pytest.mark.rotating(4)
async def test_a_sandbox_that_was_started_gets_warm_before_it_is_asked() -> None:
    async with EmbeddedSandbox() as box:
        await box.start()
        assert box.launcher_pid is not None
        while not (warm := children(box.launcher_pid)):
            await asyncio.sleep(0.05)
        result = await box.run(job("print(1)"))
        assert result.status == "finished"
        assert warm <= children(box.launcher_pid)
