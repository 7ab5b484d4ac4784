"""What the command line prints for programs: lines, help, annotations, SARIF."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sarif_pydantic import Level, Sarif  # type: ignore[import-untyped]

from app.pages.examples import examples
from tests.integration.test_service_terminal import FAILING, HEALTHY, gradmend
from tests.processes import COMMAND, ROOT, Process, alive, children, eventually, hear_interrupts

pytestmark = pytest.mark.rotating

WORDS = ["diagnose", "run", "apply", "show", "explain", "serve", "worker", "mcp", "sandbox"]


LINE = re.compile(r"^(?P<file>[\w./]+):(?P<line>\d+):(?P<column>\d+): (?P<id>GM\d{3}) (\[\*\] )?\S")


def test_one_line_a_finding_and_nothing_for_clean_files(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(FAILING)
    (tmp_path / "good.py").write_text(HEALTHY)
    done = gradmend(tmp_path, ".", "--run", "never")
    finding, summary = done.stdout.splitlines()
    found = LINE.match(finding)
    assert found is not None, finding
    line = FAILING.splitlines()[int(found["line"]) - 1]
    assert (found["file"], found["id"]) == ("bad.py", "GM011")
    assert line[int(found["column"]) - 1 :].startswith("hidden")
    assert summary == "2 scripts read: 1 fault found."
    quiet = gradmend(tmp_path, "good.py", "--run", "never", "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_a_traceback_alone_is_read_and_says_its_usual_cause_once(tmp_path: Path) -> None:
    (tmp_path / "tb.txt").write_text(examples()[0].traceback)
    done = gradmend(tmp_path, "-", "--traceback", "tb.txt")
    finding, summary = done.stdout.splitlines()
    assert re.search(r":\d+:1: GM\d+/GM\d+.*: usual causes of this error; the script", finding)
    assert summary == "1 traceback read: 1 fault found."
    whole = gradmend(tmp_path, "-", "--traceback", "tb.txt", "-v").stdout
    assert whole.lower().count("usual cause") == 1


def test_what_python_refuses_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(HEALTHY.replace("for ", "for for ", 1))
    done = gradmend(tmp_path, "broken.py", "--json")
    (found,) = json.loads(done.stdout)
    assert (done.returncode, found["error"]["exception"]) == (2, "SyntaxError")
    assert found["run"] is None


def test_what_cannot_be_read_is_not_called_clean(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(HEALTHY.replace("for ", "for for ", 1))
    (tmp_path / "deep.py").write_text(f"{HEALTHY}x = {'-' * 20_000}1\n")
    (tmp_path / "good.py").write_text(HEALTHY)
    done = gradmend(tmp_path, ".", "--run", "never")
    broken, deep, summary = done.stdout.splitlines()
    assert re.match(r"broken\.py:\d+:\d+: syntax error: ", broken)
    assert deep == "deep.py: not read: Python cannot parse it"
    assert summary == "1 script read, 2 not read: no faults found."
    alone = gradmend(tmp_path, "broken.py")
    assert alone.stdout.splitlines()[1:] == ["1 file could not be read."]
    assert alone.returncode == 2
    mixed = gradmend(tmp_path, "broken.py", "good.py")
    assert mixed.stdout.splitlines()[-1] == "1 script run, 1 not read: no faults found."
    lenient = gradmend(tmp_path, ".", "--run", "never", "--lenient")
    assert (done.returncode, lenient.returncode) == (2, 0)


def test_a_syntax_error_comes_before_what_is_found_in_spite_of_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{FAILING}print(\n")
    wrong, finding, summary = gradmend(tmp_path, "train.py").stdout.splitlines()
    line = len(FAILING.splitlines()) + 1
    assert wrong == f"train.py:{line}:6: syntax error: '(' was never closed"
    assert LINE.match(finding) is not None
    assert summary == "1 script read: 1 fault found."


@pytest.mark.parametrize("place", [".", "nets"])
def test_a_path_alone_is_diagnosed(tmp_path: Path, place: str) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "bad.py").write_text(FAILING)
    command = [COMMAND, place, "--run", "never"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.stdout.startswith("nets/bad.py:")
    unknown = subprocess.run([COMMAND, "nosuch"], cwd=tmp_path, capture_output=True, text=True)
    assert (unknown.returncode, "nosuch: no such file" in unknown.stderr) == (64, True)


def test_ignore_comments_and_settings(tmp_path: Path) -> None:
    lines = FAILING.splitlines(keepends=True)
    found = LINE.match(_reading(tmp_path, FAILING).stdout)
    assert found is not None
    at = int(found["line"]) - 1
    for comment, ignored in (("[GM011]", True), ("", True), ("[GM001]", False)):
        marked = [*lines]
        marked[at] = marked[at].rstrip("\n") + f"  # gradmend: ignore{comment}\n"
        done = _reading(tmp_path, "".join(marked))
        assert ("1 ignored" in done.stdout, done.returncode) == (ignored, 0 if ignored else 1)
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.gradmend]\nignore = ["recurrent-state"]\nrun = "never"\n')
    assert "1 script read: no faults found, 1 ignored." in gradmend(tmp_path, "train.py").stdout
    settings.write_text('[tool.gradmend]\nexclude = ["train*"]\nrun = "never"\n')
    assert "no Python file" in gradmend(tmp_path, ".").stderr
    settings.write_text("[tool.gradmend]\nnothing = 1\n")
    wrong = gradmend(tmp_path, "train.py")
    assert (wrong.returncode, "[tool.gradmend.nothing]" in wrong.stderr) == (64, True)


def _reading(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(script)
    return gradmend(folder, "train.py", "--run", "never")


def test_unsafe_fixes_are_written_only_when_asked_for(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    before = gradmend(tmp_path, "train.py", "--json")
    (found,) = json.loads(before.stdout)
    assert {patch["level"] for patch in found["patches"]} <= {"safe", "unsafe", "display_only"}
    assert found["patches"][0]["level"] == "safe"
    assert found["environment"]["torch"].startswith("2.")


@pytest.mark.parametrize("command", [*WORDS])
def test_every_command_helps(tmp_path: Path, command: str) -> None:
    asked = [COMMAND, command, "--help"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"usage: gradmend {command}" in done.stdout.replace("Usage", "usage")


def test_without_torch_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    hidden = "import sys; sys.modules['torch'] = None\nfrom importlib import util\n"
    hidden += "find = util.find_spec\n"
    hidden += (
        "util.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
    )
    hidden += "sys.argv[1:] = ['train.py']; from gradmend.command import main; main()"
    command = [sys.executable, "-P", "-c", hidden]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert "PyTorch is not installed here" in done.stderr
    assert "pip install 'gradmend[sandbox]" in done.stderr
    assert done.stdout.startswith("train.py:")


def test_help_lists_every_word() -> None:
    done = subprocess.run([COMMAND, "-h"], capture_output=True, text=True, timeout=60, check=True)
    listed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("│ ")]
    assert {"run", "apply", "show", "explain", "diagnose", "serve", "mcp"} <= set(listed)


def test_annotations_name_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    done = gradmend(tmp_path, "train.py", "--run", "never", "--format", "github")
    first = done.stdout.splitlines()
    assert len(first) == 1
    assert first[0].startswith("::warning file=train.py,line=")
    assert "%0A--- a/train.py%0A+++ b/train.py%0A" in first[0]


def test_sarif_is_sarif(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    done = gradmend(tmp_path, "train.py", "--run", "never", "--format", "sarif")
    run = Sarif.model_validate_json(done.stdout, strict=False).runs[0]
    assert run.results is not None
    (result,) = run.results
    assert (result.rule_id, result.level) == ("GM011", Level.WARNING)
    driver = run.tool.driver
    assert str(driver.rules[0].help_uri).endswith("/patterns/GM011")
    flow = result.code_flows[0].thread_flows[0]
    assert [step.location.message.text for step in flow.locations] == [
        "builds the graph",
        "frees the graph",
        "needs it again: error",
    ]
    named = ("-", "--stdin-filename", "train.py", "--run", "never", "--format", "sarif")
    moved = gradmend(tmp_path, *named, stdin=f"\n{FAILING}")
    other = json.loads(moved.stdout)["runs"][0]["results"][0]
    assert result.partial_fingerprints == other["partialFingerprints"]
    assert result.fixes is not None
    (change,) = result.fixes[0].artifact_changes
    lines = FAILING.splitlines(keepends=True)
    for replacement in reversed(change.replacements):
        region, content = replacement.deleted_region, replacement.inserted_content
        assert region.start_line is not None
        assert region.end_line is not None
        assert content is not None
        lines[region.start_line - 1 : region.end_line - 1] = [content.text or ""]
    compile("".join(lines), "train.py", "exec")
    assert "detach()" in "".join(lines)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_everything_started(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "train.py").write_text("import select\nselect.select([], [], [], 60)\n")
    process = Process(tmp_path, "diagnose", "train.py", "--time-limit", "60")
    eventually(lambda: len(children(process.pid)) >= 4)
    started = children(process.pid)
    process.popen.send_signal(number)
    assert process.popen.wait(30) in (128 + number, -number)
    eventually(lambda: not alive(started), 20)


@pytest.mark.parametrize("words", [["train.py"], ["verify", "train.py", "other.py"]])
def test_ctrl_c_is_all_that_is_reported(tmp_path: Path, words: list[str]) -> None:
    """The terminal sends it to every process of the foreground group."""
    for name in ("train.py", "other.py"):
        (tmp_path / name).write_text("import select\nselect.select([], [], [], 60)\n")
    command = [sys.executable, "-m", "gradmend", *words, "--time-limit", "60"]
    child = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    eventually(lambda: len(children(child.pid)) >= 4)
    started = children(child.pid)
    os.killpg(child.pid, signal.SIGINT)
    reported, _ = child.communicate(timeout=30)
    assert (reported, child.returncode) == ("Interrupted.\n", 130)
    eventually(lambda: not alive(started), 20)


@pytest.mark.parametrize("words", [["explain"], ["train.py", "--run", "never", "-f", "json"]])
def test_a_reader_that_went_away_gets_no_traceback(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    closed, output = os.pipe()
    os.close(closed)
    ended = subprocess.run(
        [COMMAND, *words], cwd=tmp_path, stdout=output, stderr=subprocess.PIPE, text=True
    )
    os.close(output)
    assert (ended.returncode in (0, 1, 141), ended.stderr) == (True, "")
