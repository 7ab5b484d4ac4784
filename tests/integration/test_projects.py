"""The labels of the projects are true: completed, each raises its error in a plain run."""

from __future__ import annotations

import pytest

from tests.project_files import load_projects
from tests.recorded.box import RecordedSandbox


@pytest.mark.asyncio(loop_scope="session")
async def test_completed_projects_raise_their_error(sandbox: RecordedSandbox) -> None:
    for case in load_projects():
        if case.raises:
            result = await sandbox.run(case.proof())
            assert result.raised is not None, case.name
            assert case.raises in result.raised.message, case.name
