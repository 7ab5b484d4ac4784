"""Fixtures that the tests of whole runs share."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox.protocol import Session
from tests.environment import SCRIPTS_PYTHON
from tests.processes import ROOT, eventually
from tests.recorded.box import RecordedSandbox


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def session(sandbox: RecordedSandbox) -> AsyncIterator[Session]:
    """One session of the sandbox, for all tests of a file."""
    async with sandbox.session() as session:
        yield session


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a launcher that runs scripts as an embedded one does."""
    socket = tmp_path_factory.mktemp("launcher") / "socket"
    python, path = str(SCRIPTS_PYTHON), str(socket)
    command = [python, "-P", "-m", "sandbox.launcher", "--socket", path, "--warm"]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        eventually(socket.exists)
        yield socket
        process.terminate()


@pytest.fixture(scope="module")
def warm(launcher: Path) -> Iterator[None]:
    """Have commands and services use one launcher: each would start a Python, import torch and
    end it, which takes longer than the run itself. The README's example starts its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADMEND_SANDBOX_SOCKET", str(launcher))
        yield
