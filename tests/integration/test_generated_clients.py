"""Clients that two well-known generators make of the OpenAPI document work."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Server

pytestmark = pytest.mark.rotating

TYPESCRIPT = ["openapi-typescript@7.13.0", "typescript@5.9.3", "openapi-fetch@0.17.0"]
FAULTY = (
    "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\n"
    "loss.backward()\nloss.backward()\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # What is tested is the contract, so the script is read and not run.
    server = Server(tmp_path_factory.mktemp("clients"), sandbox="none")
    yield server
    server.end()


@pytest.fixture(scope="module")
def document(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_text(server.http.get("/openapi.json").text)
    return path


def test_a_generated_python_client_gets_a_diagnosis(
    server: Server, document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = Path(sys.executable).with_name("openapi-python-client")
    target = tmp_path / "made_client"
    done = subprocess.run(
        [tool, "generate", "--path", document, "--output-path", target, "--meta", "none"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "$ref" not in done.stdout + done.stderr
    monkeypatch.syspath_prepend(str(tmp_path))
    client = importlib.import_module("made_client").Client(base_url=server.url, timeout=60)
    models = importlib.import_module("made_client.models")
    call = importlib.import_module("made_client.api.diagnoses.diagnose")
    request = models.DiagnosisRequest(script=FAULTY)
    diagnosis = call.sync(client=client, body=request)
    assert diagnosis.verdict == "likely"
    assert diagnosis.causes[0].location.line == 5
    brief = call.sync(client=client, body=request, view=models.DiagnoseView.BRIEF)
    assert brief.cause.line == 5
    verify = importlib.import_module("made_client.api.verifications.verify")
    changed = models.VerificationRequest(diagnosis=diagnosis.id, after=FAULTY + "print(w)\n")
    verification = verify.sync(client=client, body=changed, wait=30)
    assert verification.verdict == "not_comparable", "nothing is run here"
    assert "not run here" in verification.summary


CALL = """
import createClient from "openapi-fetch";
import type { paths } from "./api";

const client = createClient<paths>({ baseUrl: process.argv[2] });
const { data } = await client.POST("/v1/diagnoses", {
  body: { script: process.argv[3] },
  headers: { "content-type": "application/json" },
} as any);
console.log(JSON.stringify(data));
"""


def test_a_generated_typescript_client_gets_a_diagnosis(
    server: Server, document: Path, tmp_path: Path
) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed on this machine (Debian: apt-get install npm)")

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    (tmp_path / "package.json").write_text('{"type": "module", "private": true}')
    run(npm, "install", "--no-audit", "--no-fund", *TYPESCRIPT, "@types/node@20")
    binaries = tmp_path / "node_modules" / ".bin"
    run(binaries / "openapi-typescript", document, "-o", "api.ts")
    (tmp_path / "call.ts").write_text(CALL)
    options = ["--strict", "--target", "es2022", "--module", "es2022", "--skipLibCheck"]
    run(binaries / "tsc", *options, "--moduleResolution", "bundler", "call.ts")
    diagnosis = json.loads(run("node", "call.js", server.url, FAULTY))
    assert diagnosis["verdict"] == "likely"
    assert diagnosis["causes"][0]["location"]["line"] == 5
