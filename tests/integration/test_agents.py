"""Agents, by the protocol's own client: on standard input and output, and over HTTP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from app.agents.answers import MOST_BYTES, applied, diagnosed
from app.schemas import Cause, Findings, Location, NextStep, Patch, Verification
from tests.case_files import load_case
from tests.processes import COMMAND, Server, running
from tests.serving import echo, serving

pytestmark = pytest.mark.rotating

FAILING = load_case("recurrent_state/char_lm").stripped


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool's structured answer, once it is known to be small."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    assert len(json.dumps(answer.structured_content, ensure_ascii=False).encode()) <= 2048
    return dict(answer.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]


def local(directory: Path) -> Client:
    """A client of `gradmend mcp`, started in a directory."""
    return Client(StdioServerParameters(command=COMMAND, args=["mcp"], cwd=str(directory)))


async def test_an_agent_diagnoses_a_file_and_applies_its_fix(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    async with local(tmp_path) as client:
        reported = {tool.name for tool in (await client.list_tools()).tools}
        assert reported >= {"diagnose", "apply", "show", "explain_pattern"}
        found = await ask(client, "diagnose", path="train.py")
        assert (found["verdict"], found["pattern"]) == ("confirmed", "recurrent-state")
        assert (found["file"], found["name"]) == ("train.py", "hidden")
        assert found["fix"]["tested"] == "passed"
        assert (found["rule"], found["fix"]["level"]) == ("GM011", "safe")
        for line, note in zip(found["story"], ("builds", "frees", "needs it again"), strict=True):
            assert note in line
        second = await ask(client, "show", id=found["id"], n=2)
        assert (second["fix"]["n"], script.read_text()) == (2, FAILING)
        assert any(line.startswith("runs: passed") for line in second["checks"])
        said = await refused(client, "diagnose", script="import torch")
        assert "takes no argument script; it takes: path, code, traceback" in said
        done = await ask(client, "apply", id=found["id"])
        assert done["done"] == "Changed train.py; this fix truncates the gradients."
        assert script.read_text() != FAILING
        explained = await ask(client, "explain_pattern", pattern=found["pattern"])
        assert "detach" in explained["mended"]


async def test_tools_say_what_they_may_do(tmp_path: Path) -> None:
    async with local(tmp_path) as client:
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    for name in ("diagnose", "show", "explain_pattern"):
        assert (annotations := tools[name]) is not None
        assert annotations.read_only_hint
    for name in ("apply", "run"):
        assert (annotations := tools[name]) is not None
        assert annotations.destructive_hint


async def test_an_agent_runs_the_user_s_own_command(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    script = tmp_path / "proj" / "train.py"
    needs_data = "open('rows.csv').read()\nprint('on', end='')\n"
    script.write_text(f"{needs_data}{FAILING}")
    command = [sys.executable, "train.py"]
    async with local(tmp_path) as client:
        failing = await ask(client, "run", command=command, folder="proj")
        assert "not" in failing["summary"]
        assert (failing["verdict"], failing["pattern"]) == ("inconclusive", None)
        (tmp_path / "proj" / "rows.csv").write_text("1\n")
        found = await ask(client, "run", command=command, folder="proj")
        assert (found["verdict"], found["pattern"]) == ("confirmed", "recurrent-state")
        assert found["fix"]["tested"] == "passed"
        done = await ask(client, "apply", id=found["id"])
        assert done["done"].startswith("Changed ")
        again = await ask(client, "run", command=command, folder="proj", rerun=False)
        assert "exit code is 0" in again["summary"]
        reported = await refused(client, "run", command=command, folder="proj", limit_s=0.01)
        assert "`limit_s`" in reported
        assert "no such folder" in await refused(client, "run", command=["true"], folder="nowhere")
        assert "Which command?" in await refused(client, "run", command=[])


async def test_what_an_agent_does_wrong_is_reported(tmp_path: Path) -> None:
    async with local(tmp_path) as client:
        assert "no such file" in await refused(client, "diagnose", path="nowhere.py")
        assert "script is empty" in await refused(client, "diagnose")
        assert "call diagnose again" in await refused(client, "apply", id="7")
        assert "recurrent-state" in await refused(client, "explain_pattern", pattern="unknown")


async def test_the_service_answers_agents(tmp_path: Path) -> None:
    server = Server(tmp_path, sandbox="none")
    with running(server):
        async with Client(f"{server.url}/mcp") as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            # It runs nobody's commands.
            assert tools == {"diagnose", "verify", "apply", "show", "explain_pattern"}
            found = await ask(client, "diagnose", code=FAILING)
            assert (found["verdict"], found["pattern"]) == ("likely", "recurrent-state")
            done = await ask(client, "apply", id=found["id"])
            assert "no fix passed its checks" in done["done"]
            done = await ask(client, "apply", id=found["id"], n=1, unsafe=True)
            assert f"{server.url}/v1/diagnoses/{found['id']}/patches/1.diff" in done["done"]
            diff = server.http.get(f"/v1/diagnoses/{found['id']}/patches/1.diff").text
            assert done["diff"] in (diff, None)
            assert "fix 9" in await refused(client, "apply", id=found["id"], n=9)
            assert "is empty" in await refused(client, "diagnose", code=" ")


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("headers", "settings", "status"),
    [
        ({}, {}, 200),
        ({"origin": "https://elsewhere.example"}, {}, 403),
        ({"sec-fetch-site": "cross-site"}, {}, 403),
        ({}, {"api_keys": "secret"}, 401),
        ({"authorization": "Bearer secret"}, {"api_keys": "secret"}, 200),
        ({}, {"allowed_hosts": "gradmend.example"}, 400),
        ({}, {"max_body_bytes": 1024}, 413),
    ],
)
async def test_the_service_keeps_its_manners(
    tmp_path: Path, headers: dict[str, str], settings: dict[str, Any], status: int
) -> None:
    body = CALL | {"padding": "x" * 2000 if status == 413 else ""}
    async with serving(tmp_path, echo, **settings) as http:
        answer = await http.post("/mcp", json=body, headers=ACCEPT | headers)
    assert answer.status_code == status, answer.text


async def test_calls_of_agents_are_counted(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"rate_limit": "2/minute", "rate_limit_loopback": True}
    async with serving(tmp_path, echo, **limits) as http:
        answers = [await http.post("/mcp", json=CALL, headers=ACCEPT) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]


@pytest.mark.parametrize("size", [10, 900, 5000, 100_000])
@pytest.mark.parametrize("letter", ["x", "é", "\n", "\x01"])
def test_answers_stay_within_a_kilobyte(size: int, letter: str) -> None:
    text = letter * size
    spot = Location(file=text[:255], line=3)
    cause = Cause(
        pattern="stored-graph",
        title=text,
        confidence=0.5,
        source="reading",
        location=spot,
        explanation=text,
        learn_more="",
    )
    patch = Patch(
        n=1,
        strategy="cut",
        title=text,
        diff=text,
        script=text,
        snippet=text,
        gradients="same",
        verification=Verification(status="passed"),
    )
    found = Findings(
        verdict="confirmed",
        summary=text,
        causes=[cause],
        patches=[patch],
        next=[NextStep(kind="file", text=text)],
    )
    answer = diagnosed("1", found)
    assert len(answer.model_dump_json().encode()) <= MOST_BYTES
    assert answer.line == 3
    assert (answer.cut == []) == (size == 10)
    assert len(applied(text, text).model_dump_json().encode()) <= MOST_BYTES
