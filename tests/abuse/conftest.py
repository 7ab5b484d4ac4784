"""A sandbox of each backend, shared by all attacks: they must not be able to hurt one another."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox.client import EmbeddedSandbox
from tests import composing
from tests.abuse.attacking import Runs, Target

# In a container they run where images are built anyway: `make compose-test`.
CONTAINER = pytest.param("container", marks=pytest.mark.docker)


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["jail", CONTAINER])
async def target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """A ready sandbox behind its launcher."""
    options = []
    if request.param == "container":
        request.getfixturevalue("docker_host")
        options = ["--image", composing.SANDBOX, "--ready-containers", "3"]
    async with EmbeddedSandbox(backend=request.param, options=options) as box:
        readiness = await box.readiness()
        assert readiness.ready, readiness.reason
        async with box.session() as session:
            yield Target(box, request.param, Runs(session))


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory of the host's that every user may reach and write to."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o777)
        yield path
