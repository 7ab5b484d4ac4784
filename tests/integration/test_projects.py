"""The labels of the projects are true: completed, each raises its error in a plain run."""

from __future__ import annotations

from sandbox.client import EmbeddedSandbox
from tests.project_files import load_projects


async def test_completed_projects_raise_their_error() -> None:
    async with EmbeddedSandbox() as box:
        for case in load_projects():
            if case.raises:
                result = await box.run(case.proof())
                assert result.raised is not None, case.name
                assert case.raises in result.raised.message, case.name
