"""`gradmend verify` as a user types it, in a git repository with a history."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import GitRepository
from tests.verified import CHANGED, HEALTHY, RAISES, REFACTORED, UNREPEATABLE, diff

pytestmark = [pytest.mark.rotating, pytest.mark.usefixtures("warm")]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    """Six commits; the work tree holds one change more."""
    made = GitRepository(tmp_path_factory.mktemp("verified") / "work")
    made.commit("start", {"train.py": HEALTHY, "README": "training\n"})
    made.commit("refactor", {"train.py": REFACTORED})
    made.commit("another loss", {"train.py": CHANGED})
    made.commit("typo", {"train.py": RAISES})
    made.commit("no seed", {"train.py": UNREPEATABLE})
    made.commit("back", {"train.py": HEALTHY})
    made.write({"train.py": HEALTHY.replace("lr=0.1", "lr=0.2")})
    return made


def verified(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gradmend", "verify", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.mark.parametrize(
    ("after", "code", "words"),
    [
        ("HEAD~4:train.py", 0, "Same training"),
        ("HEAD~3:train.py", 1, "Changes the training"),
        ("HEAD~2:train.py", 1, "Breaks the training"),
    ],
)
def test_two_revisions(repository: GitRepository, after: str, code: int, words: str) -> None:
    done = verified(repository.folder, "HEAD~5:train.py", after)
    assert (done.returncode, words in done.stdout) == (code, True), done.stdout + done.stderr


def test_what_does_not_repeat_itself_is_not_comparable(repository: GitRepository) -> None:
    done = verified(repository.folder, "HEAD~1:train.py", "HEAD:train.py", "--json")
    assert done.returncode == 2, done.stdout + done.stderr
    assert json.loads(done.stdout)["verdict"] == "not_comparable"


def test_the_work_tree_next_to_a_revision_as_sarif(repository: GitRepository) -> None:
    done = verified(
        repository.folder, "--git", "HEAD", "train.py", "-f", "sarif", "--", "--lr", "1"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "training-changed"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "training-changed"
    where = result["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "train.py"


def test_a_patch_in_the_forms_that_programs_read(repository: GitRepository, tmp_path: Path) -> None:
    patch, script = tmp_path / "change.diff", tmp_path / "old.py"
    script.write_text(HEALTHY)
    patch.write_text(diff(HEALTHY, CHANGED, "old.py"))
    words = ["old.py", "--patch", "change.diff", "--steps", "4"]
    github = verified(tmp_path, *words, "--format", "github")
    assert github.returncode == 1, github.stdout + github.stderr
    assert github.stdout.startswith("::warning file=old.py")
    assert len(github.stdout.strip().splitlines()) == 1
    markdown = verified(tmp_path, *words, "--format", "markdown")
    assert markdown.stdout.startswith("**Changes the training.**")


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ([], "BEFORE"),
        (["train.py"], "--git REV"),
        (["train.py", "train.py", "--git", "HEAD"], "--git REV"),
        (["train.py", "nowhere.py"], "no such file"),
        (["train.py", "train.py", "--stepz", "3"], "--stepz"),
    ],
)
def test_wrong_usage_ends_with_64(
    repository: GitRepository, words: list[str], reported: str
) -> None:
    done = verified(repository.folder, *words)
    assert done.returncode == 64, done.stdout + done.stderr
    assert reported in done.stderr


def test_without_torch_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY)
    program = (
        "import importlib.util, sys\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'torch' else found(name, *a)\n"
        "from gradmend.command import main\n"
        "sys.argv = ['gradmend', 'verify', 'train.py', 'train.py']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "pip install 'gradmend[sandbox]" in done.stdout
