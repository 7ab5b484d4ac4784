"""Fixtures of the integration tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tracing import Tracing


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracing]:
    """Runs a script under the tracer, in a warm process without walls."""
    tracing = Tracing(tmp_path_factory.mktemp("traced"))
    yield tracing
    tracing.close()
