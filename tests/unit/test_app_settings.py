"""Settings: their table is current, and addresses become what the drivers take."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings, listed, table
from app.store.listen import plain_url

DOCS = Path(__file__).parents[2] / "docs"


def test_table_in_the_docs_is_current() -> None:
    assert (DOCS / "settings.md").read_text().endswith(table())


def test_every_setting_is_explained() -> None:
    rows = table().splitlines()[2:]
    assert len(rows) == len(Settings.model_fields)
    bare = [row for row in rows if row.split("|")[-2].strip() == ""]
    assert bare == []


def test_default_database_is_a_file_below_var(tmp_path: Path) -> None:
    url = Settings(var_dir=tmp_path).store_url
    assert url == f"sqlite+aiosqlite:///{tmp_path}/gradmend.sqlite3"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgres_addresses_get_the_driver(scheme: str) -> None:
    url = Settings(database_url=f"{scheme}://me:p%40ss@db/x?host=/run").store_url
    assert url == "postgresql+psycopg://me:p%40ss@db/x?host=/run"
    assert plain_url(url).startswith("postgresql://me:p%40ss@db/x")


def test_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADMEND_QUEUE_LIMIT", "7")
    assert Settings().queue_limit == 7


def test_lists_are_comma_separated() -> None:
    assert listed(" a, b ,,") == ["a", "b"]


def test_further_torches_are_read_by_name() -> None:
    both = Settings(torch_sandboxes="2.4=/opt/old/bin/python, 2.9=/run/new.sock")
    assert both.torches == {"2.4": Path("/opt/old/bin/python"), "2.9": Path("/run/new.sock")}
    assert Settings(torch_sandboxes="2.4=/opt/old/bin/python", sandbox="none").torches == {}


@pytest.mark.parametrize("value", ["/opt/old/bin/python", "2.4=old/bin/python", "=/opt/python"])
def test_a_torch_without_a_name_or_a_path_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="is not a version and an absolute path"):
        Settings(torch_sandboxes=value)
