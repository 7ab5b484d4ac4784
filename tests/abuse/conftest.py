"""A sandbox of each backend, shared by all attacks: they must not be able to hurt one another."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox.client import EmbeddedSandbox
from tests.abuse.attacking import Target


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["jail"])
async def target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """A ready sandbox behind its launcher."""
    async with EmbeddedSandbox(backend=request.param) as box:
        readiness = await box.readiness()
        assert readiness.ready, readiness.reason
        yield Target(box)


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory of the host's that every user may reach and write to."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o777)
        yield path
