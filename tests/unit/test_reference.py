"""/docs, /patterns and what crawlers ask for: everything has a meaning, and the examples run."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import create_app
from app.pages.reference import operations, schemas
from app.settings import Settings
from tests.case_files import load_case
from tests.processes import Server, running
from tests.serving import serving

FAILING = load_case("recurrent_state/char_lm").stripped


def test_every_field_and_schema_has_a_meaning(tmp_path: Path) -> None:
    document = create_app(Settings(sandbox="none", var_dir=tmp_path)).openapi()
    shown = list(schemas(document))
    assert len(shown) > 20
    assert not [schema.name for schema in shown if not schema.description]
    fields = [(schema.name, field) for schema in shown for field in schema.fields]
    fields += [(one.id, field) for one in operations(document) for field in one.parameters]
    assert not [f"{name}.{field.name}" for name, field in fields if not field.description]


async def test_the_page_has_contents_and_no_dead_link_in_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        page = (await http.get("/docs")).text
    ids, links = set(re.findall(r'id="([^"]+)"', page)), re.findall(r'href="#([^"]+)"', page)
    assert len(links) > 30
    assert set(links) - ids == set()
    assert "application/json: ProblemDetails" not in page


def _example(page: str, name: str) -> str:
    found = re.search(rf'(?s)id="example-{name}"[^>]*><code>(.*?)</code>', page)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))


@pytest.mark.rotating
@pytest.mark.parametrize("name", ["curl", "python"])
def test_the_examples_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    server = Server(tmp_path)
    with running(server):
        text = _example(server.http.get("/docs").text, name)
        command = ["sh", "-c", text] if name == "curl" else [sys.executable, "-c", text]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=True
        )
    assert "recurrent state" in done.stdout
    assert "+++ b/train.py" in done.stdout


async def test_what_is_not_there_is_said_with_what_fits(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        pattern = (await http.get("/v1/patterns/nope")).json()["detail"]
        mistyped = (await http.get("/v1/patterns/recurent-state")).json()["detail"]
        result = (await http.get("/v1/diagnoses/3q2-7wXk1VYb0hUe9mZc4A")).json()["detail"]
        made = (await http.post("/v1/diagnoses", json={"script": "x = 1\n"})).json()
        patch = (await http.get(f"/v1/diagnoses/{made['id']}/patches/9.diff")).json()["detail"]
    assert pattern == "There is no pattern of this id or name. /v1/patterns lists them."
    assert "Did you mean recurrent-state?" in mistyped
    assert result.endswith("It may have expired or been deleted.")
    assert patch == "There is no patch 9 in this diagnosis."


@pytest.mark.parametrize(
    ("asked", "first", "count"),
    [
        ("GM011", "GM011", 1),
        ("recurrent-state", "GM011", 1),
        ("RuntimeError: Trying to backward through the graph a second time", "GM", 14),
        ("a leaf Variable that requires grad is being used in an in-place operation.", "GM016", 1),
        ("zzzz", "", 0),
    ],
)
async def test_patterns_are_found_by_message(
    tmp_path: Path, asked: str, first: str, count: int
) -> None:
    async with serving(tmp_path) as http:
        page = (await http.get("/patterns", params={"q": asked})).text
    fitting = page[page.index('id="found"') :].partition('<section class="family">')[0]
    ids = re.findall(r'href="/patterns/(GM\d{3})"', fitting)
    assert len(ids) >= count if count else not ids
    assert (ids or [""])[0].startswith(first)


async def test_a_pattern_has_a_page_under_its_id_and_its_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        by_id, by_name = await http.get("/patterns/GM011"), await http.get("/patterns/gm011")
        named = await http.get("/patterns/recurrent-state")
        entry = (await http.get("/v1/patterns/GM011")).json()
        robots, sitemap = await http.get("/robots.txt"), await http.get("/sitemap.xml")
        icon = await http.get("/favicon.ico", follow_redirects=True)
    assert by_id.text == by_name.text == named.text
    assert 'property="og:title" content="GM011: ' in by_id.text
    assert (entry["id"], entry["pattern"]) == ("GM011", "recurrent-state")
    assert "Sitemap: http://test/sitemap.xml" in robots.text
    assert "<loc>http://test/patterns/GM011</loc>" in sitemap.text
    assert icon.headers["content-type"] == "image/svg+xml"
