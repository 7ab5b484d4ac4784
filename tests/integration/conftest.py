"""Fixtures that the tests of whole runs share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from sandbox.protocol import Session
from tests.recorded.box import RecordedSandbox


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def session(sandbox: RecordedSandbox) -> AsyncIterator[Session]:
    """One session of the sandbox, for all tests of a file."""
    async with sandbox.session() as session:
        yield session
