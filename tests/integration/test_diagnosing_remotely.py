"""`gradmend diagnose --server`: a service that runs already answers, and nothing else changes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.diagnose import Progress
from app.schemas import DiagnosisRequest, Findings
from tests.case_files import load_case
from tests.processes import COMMAND, hear_interrupts
from tests.serving import listening

FAILING = load_case("recurrent_state/char_lm").stripped
HEALTHY = load_case("recurrent_state/ok_detached_each_batch").stripped
TIMINGS = re.compile(r'"(read|queue|reproduce|verify|total)": [\d.]+')


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(FAILING)
    (tmp_path / "fine.py").write_text(HEALTHY)
    return tmp_path


@asynccontextmanager
async def started(
    folder: Path, *words: str, **variables: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "diagnose", *words),
        cwd=folder,
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=hear_interrupts,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ran(folder: Path, *words: str, **variables: str) -> tuple[int | None, str, str]:
    """The exit code of a command, what it printed, and what it said on the side."""
    async with started(folder, *words, **variables) as process:
        printed, said = await process.communicate()
    return process.returncode, printed.decode(), said.decode()


@pytest.mark.parametrize("form", ["text", "json"])
async def test_formats_and_exit_codes_are_the_same(project: Path, form: str) -> None:
    words = ("train.py", "fine.py", "--run", "never", "-f", form)
    async with listening(project / "var", None) as address:
        code, printed, said = await ran(project, *words, "--server", address)
    alone = await ran(project, *words)
    assert (code, TIMINGS.sub("", printed)) == (alone[0], TIMINGS.sub("", alone[1]))
    assert code == 1
    assert said == f"Asking {address}.\n"


async def test_a_fix_of_the_server_is_written_here(project: Path) -> None:
    words = ("train.py", "--run", "never", "--fix=1", "--unsafe-fixes")
    async with listening(project / "var", None) as address:
        _, _, said = await ran(project, *words, GRADMEND_SERVER=address)
    assert "Changed train.py" in said
    assert (project / "train.py").read_text() != FAILING


@pytest.mark.rotating
async def test_the_command_line_comes_before_the_project(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.gradmend]\nserver = "http://127.0.0.1:1"\n')
    words = ("train.py", "--run", "never")
    assert (await ran(project, *words))[0] == 2
    code, _, said = await ran(project, *words, "--server", "")
    assert (code, said) == (1, "")


@pytest.mark.rotating(4)
@pytest.mark.parametrize(
    ("address", "ended", "expected"),
    [
        ("http://127.0.0.1:9", 2, "No Gradmend server answers at http://127.0.0.1:9"),
        ("nonsense", 64, "--server nonsense: give an address such as http://127.0.0.1:8000."),
        (
            "http://127.0.0.1:x",
            64,
            "--server http://127.0.0.1:x: give an address such as http://127.0.0.1:8000.",
        ),
    ],
)
async def test_a_server_that_does_not_answer_is_said(
    project: Path, address: str, ended: int, expected: str
) -> None:
    code, printed, said = await ran(project, "train.py", "--server", address)
    assert (code, printed) == (ended, "")
    assert expected in said
    assert "Traceback" not in said


@pytest.mark.rotating
async def test_a_key_is_sent_where_one_is_required(project: Path) -> None:
    words = ("train.py", "--run", "never", "--server")
    async with listening(project / "var", None, api_keys="sesame") as address:
        code, _, said = await ran(project, *words, address)
        assert (code, "Send an API key" in said) == (64, True)
        assert (await ran(project, *words, address, GRADMEND_SERVER_KEY="sesame"))[0] == 1


@pytest.mark.rotating(4)
async def test_what_is_not_gradmend_is_said(project: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        code, _, said = await ran(project, "train.py", "--server", f"http://127.0.0.1:{port}")
    assert code == 64
    assert "another kind or version of server" in said


@pytest.mark.rotating
async def test_ctrl_c_ends_it_there(project: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def never(request: DiagnosisRequest, progress: Progress) -> Findings:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        raise AssertionError("unreachable")

    async with listening(project / "var", never) as address:
        async with started(project, "train.py", "--server", address) as process:
            await begun.wait()
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 130
        await asyncio.wait_for(ended.wait(), 30)
