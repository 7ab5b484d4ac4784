"""The service as a user meets it: a real server, a real sandbox, real scripts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.case_files import load_case
from tests.processes import Server, alive, children, eventually

LSTM = load_case("recurrent_state/char_lm")
HEALTHY = load_case("recurrent_state/ok_detached_each_batch")

REPORT_MODULES = """
import os, signal, sys
def report(*_):
    with open(f"modules-{os.getpid()}", "w") as file:
        file.write("\\n".join(sys.modules))
    os.rename(f"modules-{os.getpid()}", f"modules-{os.getpid()}.txt")
signal.signal(signal.SIGUSR2, report)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    (home / "sitecustomize.py").write_text(REPORT_MODULES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(home))
        server = Server(home)
    yield server
    started = children(server.pid)
    assert started
    assert server.end() in (0, -signal.SIGTERM)
    eventually(lambda: not alive(started), 20)


@pytest.fixture(scope="module")
def mended(server: Server) -> Any:
    """The diagnosis of a script that fails."""
    return server.ask(LSTM.stripped, filename=LSTM.entry)


def test_sandbox_is_up(server: Server) -> None:
    ready = server.http.get("/readyz").json()
    assert ready["ready"], ready
    assert ready["backend"] == "jail"
    assert {"seccomp", "no-network"} <= set(ready["walls"])


def test_failing_script_gets_a_verified_patch(mended: Any) -> None:
    assert (mended["status"], mended["verdict"]) == ("done", "confirmed")
    assert mended["causes"][0]["pattern"] == "recurrent-state"
    best = mended["patches"][0]
    checks = {check["name"]: check["status"] for check in best["verification"]["checks"]}
    assert best["verification"]["status"] == "passed"
    assert {checks[name] for name in ("reproduced", "runs", "learns", "minimal")} == {"passed"}
    assert mended["run"]["status"] == "reproduced"


def test_patch_applies_and_the_script_then_runs(server: Server, mended: Any, home: Path) -> None:
    diff = server.http.get(f"/v1/diagnoses/{mended['id']}/patches/{mended['patches'][0]['n']}.diff")
    script = home / LSTM.entry
    script.write_text(LSTM.stripped)
    subprocess.run(["git", "apply", "-"], cwd=home, input=diff.content, check=True)
    assert script.read_text() == mended["patches"][0]["script"]
    subprocess.run([sys.executable, script.name], cwd=home, check=True, timeout=120)


def test_healthy_script_is_reported_as_such(server: Server) -> None:
    diagnosis = server.ask(HEALTHY.stripped)
    assert diagnosis["verdict"] == "healthy"
    assert diagnosis["causes"] == diagnosis["patches"] == []


def test_reading_only_runs_nothing(server: Server) -> None:
    diagnosis = server.ask(LSTM.stripped, run="never")
    assert diagnosis["verdict"] in ("likely", "inconclusive")
    assert diagnosis["run"] is None or diagnosis["run"]["status"] == "unavailable"


def test_not_python_names_the_line(server: Server) -> None:
    diagnosis = server.ask("import torch\nfor x in [1, 2]\n    print(x)\n")
    assert diagnosis["verdict"] == "inconclusive"
    assert "line 2" in diagnosis["summary"].lower()


def test_traceback_alone_is_read(server: Server) -> None:
    traceback = (
        "Traceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\n'
        "    loss.backward()\n"
        "RuntimeError: Trying to backward through the graph a second time"
    )
    response = server.http.post("/v1/diagnoses", json={"traceback": traceback})
    assert response.status_code == 200
    assert response.json()["error"]["family"] == "graph-reuse"


def test_notebook_is_read(server: Server) -> None:
    cells = ["import torch\nw = torch.ones(2, requires_grad=True)", "(w * w).sum().backward()"]
    notebook = {
        "cells": [
            {"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    assert server.ask(json.dumps(notebook), filename="a.ipynb")["verdict"] == "healthy"


def test_events_come_while_it_runs(server: Server) -> None:
    script = "import select\nfor _ in range(4):\n    select.select([], [], [], 0.5)\n"
    diagnosis = server.ask(script, wait=0)
    kinds = []
    with server.http.stream("GET", f"/v1/diagnoses/{diagnosis['id']}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("event: "):
                kinds.append(line.removeprefix("event: "))
            if kinds[-1:] == ["progress"] and "running" not in kinds:
                kinds.append(server.read(diagnosis["id"])["status"])
    assert kinds[0] == "status"
    assert "running" in kinds  # reported before the diagnosis had its result
    assert kinds[-1] == "done"


def test_web_process_never_imports_torch(server: Server, mended: Any, home: Path) -> None:
    assert mended["verdict"] == "confirmed"  # it has done its whole work by now
    server.popen.send_signal(signal.SIGUSR2)
    report = home / f"modules-{server.pid}.txt"
    eventually(report.exists, 10)
    modules = report.read_text().splitlines()
    assert "app.diagnose" in modules
    assert not [name for name in modules if name.partition(".")[0] in ("torch", "numpy")]
    assert "libtorch" not in Path(f"/proc/{server.pid}/maps").read_text()


def test_cold_form_post_reaches_a_result_page(server: Server) -> None:
    answer = server.http.post("/", data={"script": "print('hello')"}, follow_redirects=True)
    assert answer.status_code == 200
    assert answer.url.path.startswith("/d/")
