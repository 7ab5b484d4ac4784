"""A sandbox of each backend, shared by all attacks: they must not be able to hurt one another."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox.client import EmbeddedSandbox
from tests import engine
from tests.abuse.attacking import Runs, Target


@pytest.fixture(scope="session")
def image() -> Iterator[str]:
    """An image with torch and the sandbox, in a daemon that `DOCKER_HOST` names meanwhile."""
    with engine.daemon() as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", address)
        yield engine.build_image(address)


# An image takes a minute to make: few trees have one, and then for many tests.
CONTAINER = pytest.param("container", marks=pytest.mark.rotating(2, needs="containers"))


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["jail", CONTAINER])
async def target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """A ready sandbox behind its launcher."""
    options = []
    if request.param == "container":
        options = ["--image", request.getfixturevalue("image"), "--ready-containers", "3"]
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
