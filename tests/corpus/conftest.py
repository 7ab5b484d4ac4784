"""Fixtures of the corpus' tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from benchmarks.asking import Service


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def service() -> AsyncIterator[Service]:
    """The whole service, real sandbox and all, started once in a process."""
    service = Service()
    yield service
    await service.close()
