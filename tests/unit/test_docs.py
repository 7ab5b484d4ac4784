"""Pages of the documentation: short, with a table of contents, and naming only what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.source_files import sources

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *PAGES]
LONGEST = 150  # lines
FIRST_USE = 40  # lines of the README: one screen
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"`((?:[\w.]+/)+[\w.*]*)`")
_MODULE = re.compile(r"python -m ([\w.]+)")
TOP = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in _HEADING.findall(prose(page))
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_lists_its_sections(page: Path) -> None:
    text = prose(page)
    assert len(page.read_text(encoding="utf-8").splitlines()) < LONGEST
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    before = text.partition("\n## ")[0]
    listed = [link[1:] for link in _LINK.findall(before) if link.startswith("#")]
    wanted = [re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in sections]
    assert sorted(listed) == sorted(wanted)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if re.match(r"\w+:|/", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_named_files_and_modules_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in _PATH.findall(text):
        if name.partition("/")[0] in TOP and "<" not in name:
            assert list(ROOT.glob(name.rstrip("/"))), name
    modules = {*sources(), "benchmarks", "tests"}
    for module in _MODULE.findall(text):
        path = ROOT / module.replace(".", "/")
        if module.partition(".")[0] in TOP:
            assert module in modules or path.with_suffix(".py").exists() or path.is_dir(), module


def test_the_readme_comes_to_the_first_use_within_one_screen() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(".venv/bin/gradmend"))
    assert first < FIRST_USE


def test_the_index_lists_every_page_once() -> None:
    index = ROOT / "docs" / "README.md"
    listed = [link for link in _LINK.findall(prose(index)) if not link.startswith(("#", ".."))]
    assert sorted(listed) == sorted(page.name for page in PAGES if page != index)


def test_the_tutorial_begins_with_the_readmes_example() -> None:
    readme, tutorial = (
        re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)[0]
        for path in (ROOT / "README.md", ROOT / "docs" / "tutorial.md")
    )
    assert tutorial == readme
