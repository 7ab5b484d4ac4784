"""The tool `verify`, by the protocol's own client: next to the user's files, and over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from app.agents.answers import MOST_BYTES
from app.agents.verify_tool import verified_change
from app.change_schemas import ChangeFindings
from app.verdict import Witness
from tests.integration.test_agents import local, refused
from tests.processes import Server, running
from tests.repository import GitRepository
from tests.verified import CHANGED, FAILING, FIXED, FORGETFUL, HEALTHY, REFACTORED, diff

pytestmark = pytest.mark.rotating


async def ask(client: Client, **arguments: Any) -> dict[str, Any]:
    """What `verify` answers, once it is known to be small."""
    answer = await client.call_tool("verify", arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    assert len(json.dumps(answer.structured_content).encode()) < 2048
    return dict(answer.structured_content)


async def test_an_agent_verifies_its_own_changes_of_files(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "proj")
    repository.commit("start", {"train.py": HEALTHY})
    script = repository.folder / "train.py"
    async with local(repository.folder) as client:
        reported = {tool.name: tool for tool in (await client.list_tools()).tools}
        hints = reported["verify"].annotations
        assert hints is not None
        assert hints.read_only_hint
        script.write_text(CHANGED)
        found = await ask(client, path="train.py")
        assert found["verdict"] == "changed"
        assert found["first"].startswith("Step 1: ")
        assert "train.py:" in found["after"]
        again = await ask(client, path=str(script), before="HEAD:train.py", steps=3)
        assert (again["verdict"], again["compared"]) == ("changed", 3)
        same = await ask(client, path="train.py", patch=diff(CHANGED, HEALTHY), steps=4)
        assert same["verdict"] == "changed", "the patch is tried on the file as it is"
        assert script.read_text() == CHANGED, "nothing is written"
        refusal = await refused(client, "verify", path="train.py", code="x")
        assert "verify takes no argument code" in refusal
        assert "Which script?" in await refused(client, "verify")
        assert "no such revision" in await refused(client, "verify", path="v9:train.py")


async def test_an_agent_verifies_its_own_fix_of_what_was_diagnosed(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    async with local(tmp_path) as client:
        answer = await client.call_tool("diagnose", {"path": "train.py"})
        assert answer.structured_content is not None
        name = answer.structured_content["id"]
        script.write_text(FIXED)
        found = await ask(client, diagnosis=name)
        assert found["verdict"] in ("same", "truncated"), found
        wrong = await ask(client, diagnosis=name, patch=diff(FAILING, FORGETFUL))
        assert wrong["verdict"] in ("changed", "breaks"), wrong
        assert "no diagnosis '99'" in await refused(client, "verify", diagnosis="99")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with running(Server(tmp_path_factory.mktemp("server"))) as made:
        yield made


async def test_the_service_verifies_code(server: Server) -> None:
    async with Client(f"{server.url}/mcp") as client:
        found = await ask(client, before=HEALTHY, after=REFACTORED)
        assert (found["verdict"], found["equal"]) == ("same", 12)
        assert found["id"]
        patched = await ask(client, before=HEALTHY, patch=diff(HEALTHY, CHANGED))
        assert patched["verdict"] == "changed"
        misfit = await refused(client, "verify", before=CHANGED, patch=diff(HEALTHY, CHANGED))
        assert "hunk 1" in misfit


def test_however_long_a_verdict_is_its_answer_is_short() -> None:
    found = ChangeFindings(
        verdict="changed",
        summary="s" * 3000,
        notes=["n" * 900] * 9,
        witness=Witness(step=1, what="w" * 4000, line_before=1, code_before="c" * 5000),
    )
    answer = verified_change(found, "x" * 22)
    assert len(answer.model_dump_json().encode()) <= MOST_BYTES
    assert answer.cut
