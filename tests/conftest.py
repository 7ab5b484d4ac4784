"""Fixtures that several test files share."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from hypothesis import settings as hypothesis_settings

from app.request.reader import Reader
from app.settings import Settings
from app.store import Database
from benchmarks.asking import Service
from tests import tiers
from tests.environment import SCRIPTS_PYTHON
from tests.postgres import Cluster, find_program
from tests.recorded import plugin
from tests.recorded.box import RecordedSandbox, ThreadReader
from tests.recorded.findings import Recorded, kept_of
from tests.recorded.recorder import Recorder
from tests.tracing import Tracing

if TYPE_CHECKING:
    from tests.plain_runs import PlainRuns

# How long an example takes says more about the machine than about the code.
hypothesis_settings.register_profile("untimed", deadline=None)
hypothesis_settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the commands in the Makefile."""
    tiers.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Know which test is running, which are to run, and what scripts run with."""
    os.environ.setdefault("GRADMEND_SANDBOX_PYTHON", str(SCRIPTS_PYTHON))
    config.pluginmanager.register(plugin.Recordings(config), plugin.NAME)
    config.pluginmanager.register(tiers.Tiers(config), "tiers")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let the collector of garbage pass over what is collected: it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


UNSHARED = ("abuse", "browser")  # attacks on one machine, pages of one server


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With `-n`, tests that share fixtures stay in one process: those of a file, or of a folder
    that must not meet itself. Tests of the corpus stay together case by case."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            folder = item.path.parent.name
            group = folder if folder in UNSHARED else str(item.path)
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def recorder(request: pytest.FixtureRequest) -> Recorder:
    """What this process replays, makes or records."""
    recordings = request.config.pluginmanager.get_plugin(plugin.NAME)
    assert isinstance(recordings, plugin.Recordings)
    return recordings.recorder


@pytest.fixture(scope="session")
def traced(recorder: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracing]:
    """Runs a script under the tracer, in a warm process without walls."""
    tracing = Tracing(tmp_path_factory.mktemp("traced"), recorder)
    yield tracing
    tracing.close()


@pytest.fixture(scope="session")
def plain(recorder: Recorder) -> PlainRuns:
    """Runs programs in plain Python, without anything of ours."""
    from tests.plain_runs import PlainRuns  # imports torch, which few tests need here

    return PlainRuns(recorder)


@pytest.fixture
def on_record(request: pytest.FixtureRequest, recorder: Recorder) -> Recorded:
    """The findings of the test's case that were recorded, for comparison."""
    kept = kept_of(request.node)
    assert kept is not None, "mark the test with `findings`"
    return Recorded(recorder, kept)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox(recorder: Recorder) -> AsyncIterator[RecordedSandbox]:
    """The sandbox of this process. Tests that use it share the session's loop."""
    sandbox = RecordedSandbox(recorder)
    yield sandbox
    await sandbox.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def service(recorder: Recorder, sandbox: RecordedSandbox) -> AsyncIterator[Service]:
    """The whole service with that sandbox; it reads in a process of its own where all is live."""
    service = Service(sandbox, Reader() if recorder.mode == "live" else ThreadReader())
    yield service
    if recorder.mode == "live":
        await service.close()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL server for the whole session."""
    if find_program("initdb") is None:
        pytest.skip("PostgreSQL is not installed on this machine")
    cluster = Cluster()
    yield cluster
    cluster.remove()


NewDatabase = Callable[[str], str]


@pytest.fixture
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    """Makes an empty database of a kind, `sqlite` or `postgres`; its address."""

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path / 'gradmend.sqlite3'}"
        cluster: Cluster = request.getfixturevalue("cluster")
        return cluster.new_database()

    return make


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, new_database: NewDatabase) -> str:
    """The address of a fresh database; each test runs once for each kind."""
    return new_database(request.param)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database."""
    database = Database(Settings(database_url=database_url).store_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture(scope="session")
def docker_host() -> Iterator[str]:
    """Address of a Docker daemon that has the images of `compose.yaml`, as `DOCKER_HOST` has it."""
    from tests import composing, engine  # they import Docker's client, which few tests want

    composing.compose_command()
    with engine.daemon() as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", address)
        composing.build_images(address)
        yield address
