"""Every page of the documentation: links and paths exist, it is short, and its words are plain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.house import PACKAGES

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
NAMED = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "editor/vscode/README.md"),
    *("benchmarks/first_contact_batches.md", "benchmarks/metamorphic.md", "benchmarks/score.md"),
    *("tests/cases/README.md", "tests/strangers/README.md"),
)
PAGES = [*(ROOT / name for name in NAMED), *DOCS]
LONGEST = 150  # lines of a page
SECTIONS = 3  # a page with more of them has a table of contents
GENERATED = ("settings.md",)
_RETIRED = r"(?i)\b(told|anew|reckon\w*|mended|starv\w+|made up|beside|stands for)\b"
_FENCED = re.compile(r"(?ms)^```.*?^```$|^ {4}[^\n]*$")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"(?m)^(#+) (.+)$")
_TOP = "|".join((*PACKAGES, "benchmarks", "docs", "editor", "tests"))
_PATH = re.compile(rf"`((?:{_TOP})/[\w./-]*\w)`")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def prose(page: Path) -> str:
    """Return a page without its code blocks and, in the glossary, without the retired words."""
    text = _FENCED.sub("", page.read_text())
    return text.partition("## Retired words")[0] if page.name == "GLOSSARY.md" else text


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text()))
    return {anchor(heading) for _, heading in headings}


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@each_page
def test_links_resolve(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not fragment or fragment in anchors(target), link


@each_page
def test_paths_in_the_text_exist(page: Path) -> None:
    assert [path for path in _PATH.findall(prose(page)) if not (ROOT / path).exists()] == []


@each_page
def test_words_are_the_glossarys(page: Path) -> None:
    assert re.findall(_RETIRED, _CODE.sub("", prose(page))) == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.name))
def test_a_page_is_short_and_has_its_contents(page: Path) -> None:
    text = page.read_text()
    assert len(text.splitlines()) < LONGEST
    sections = [name for level, name in _HEADING.findall(prose(page)) if level == "##"]
    if len(sections) > SECTIONS and page.name not in GENERATED:
        head = text.partition("\n## ")[0]
        assert [name for name in sections if f"](#{anchor(name)})" not in head] == []
    assert len(re.findall(r"(?m)^# ", prose(page))) == 1


def test_every_page_is_reached_from_the_readme() -> None:
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        links = (link.partition("#")[0] for link in _LINK.findall(prose(page)))
        pages = ((page.parent / link).resolve() for link in links if link.endswith(".md"))
        ahead += [found for found in pages if found not in reached]
    assert [page.name for page in DOCS if page not in reached] == []
