"""With `-n`, tests that share fixtures meet in one process."""

from __future__ import annotations

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="all tests in one process")
def test_the_group_of_a_test_is_in_the_identifier_that_is_scheduled(
    request: pytest.FixtureRequest,
) -> None:
    assert request.node.nodeid.endswith(f"@{request.node.path}")
