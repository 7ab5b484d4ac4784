"""The two versions that a command line names: files, revisions, patches."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.change_schemas import ChangeRequest
from app.command.options import BadInput, Options
from app.command.revisions import Repository
from app.command.sides import Comparison
from tests.repository import GitRepository
from tests.verified import CHANGED, HEALTHY, REFACTORED, diff

SCRIPT = "from net import build\n\n" + HEALTHY
NET = "def build():\n    return 1\n"


def compared(
    before: str, after: str | None = None, patch: Path | None = None, git: str | None = None
) -> ChangeRequest:
    return Comparison(before, after, patch, git, Options((), args=("--data", "d.csv"))).request()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    made = GitRepository(tmp_path / "work")
    made.commit("first", {"src/train.py": SCRIPT, "src/net.py": NET, ".gitignore": "*.csv\n"})
    made.commit("second", {"src/net.py": NET.replace("1", "2")})
    made.write({"src/train.py": SCRIPT.replace("0.1", "0.2"), "src/d.csv": "1,2\n"})
    monkeypatch.chdir(made.folder)
    return made


def test_the_work_tree_next_to_a_revision(repository: GitRepository) -> None:
    change = compared("src/train.py", git="HEAD~1")
    assert change.before.script == SCRIPT
    assert "lr=0.2" in change.after.script
    before = {file.path: file.content for file in change.before.files}
    after = {file.path: file.content for file in change.after.files}
    assert before["src/net.py"] == NET
    assert after["src/net.py"] == NET.replace("1", "2")
    assert before["src/d.csv"] == after["src/d.csv"] == "1,2\n", "data that git does not keep"
    assert change.before.filename == change.after.filename == "src/train.py"
    assert change.args == ["--data", "d.csv"]


def test_links_that_lead_out_and_large_files_are_left_alone(
    repository: GitRepository, tmp_path: Path
) -> None:
    (repository.folder / "src" / "away").symlink_to("/etc/passwd")
    (repository.folder / "src" / "near.py").symlink_to("net.py")
    repository.commit("links", {"src/large.bin": "x" * (3 << 20)})
    change = compared("src/train.py", git="HEAD")
    names = {file.path for file in change.before.files}
    assert "src/net.py" in names
    assert not {"src/away", "src/large.bin"} & names
    Repository.of(repository.folder).extract("HEAD", tmp_path / "tree")
    written = {path.name for path in (tmp_path / "tree" / "src").iterdir()}
    assert written == {"train.py", "net.py", "near.py"}


def test_two_revisions_from_within_a_folder(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.folder / "src")
    for spelled in ("train.py", "src/train.py"):
        change = compared(f"HEAD~1:{spelled}", f"HEAD:{spelled}")
        assert change.before.script == change.after.script == SCRIPT
        assert change.before.files != change.after.files
        assert change.after.filename == "train.py"


def test_a_patch_may_change_a_module(repository: GitRepository, tmp_path: Path) -> None:
    patch = tmp_path / "fix.diff"
    patch.write_text(diff(NET.replace("1", "2"), NET.replace("1", "3"), "src/net.py"))
    change = compared("src/train.py", patch=patch)
    after = {file.path: file.content for file in change.after.files}
    assert after["src/net.py"] == NET.replace("1", "3")
    assert change.after.script == change.before.script


def test_a_file_whose_name_has_a_colon_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b.py").write_text(HEALTHY)
    (tmp_path / "c.py").write_text(REFACTORED)
    with pytest.raises(BadInput, match="is absolute"):  # its name cannot be sent
        compared("a:b.py", "c.py")
    assert compared("c.py", "c.py").before.script == REFACTORED


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("nothing.py", "src/train.py", "no such file"),
        ("HEAD:nothing.py", "src/train.py", "there is no such file in HEAD"),
        ("v9:src/train.py", "src/train.py", "v9: git knows no such revision"),
        ("HEAD:../../etc/passwd", "src/train.py", "there is no such file"),
        ("--output=x:src/train.py", "src/train.py", "git knows no such revision"),
    ],
)
def test_what_is_not_there_is_said(
    repository: GitRepository, before: str, after: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        compared(before, after)


def test_outside_a_repository_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "train.py").write_text(CHANGED)
    with pytest.raises(BadInput, match="not a git repository"):
        compared("train.py", git="HEAD")


def test_a_patch_that_does_not_apply_names_the_hunk(tmp_path: Path) -> None:
    script, patch = tmp_path / "train.py", tmp_path / "fix.diff"
    script.write_text(CHANGED)
    patch.write_text(diff(HEALTHY, REFACTORED))
    with pytest.raises(BadInput, match=r"hunk 1 of train\.py"):
        compared(str(script), patch=patch)
