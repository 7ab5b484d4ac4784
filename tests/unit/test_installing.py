"""What to install names where this Gradmend came from, never a package that no index may have."""

from __future__ import annotations

import json
import shlex

import pytest

from gradmend.installing import pip_install, requirement

REPOSITORY = {
    "url": "https://example.org/gradmend.git",
    "vcs_info": {"vcs": "git", "commit_id": "abc1234", "requested_revision": "main"},
}
CHECKOUT = {"url": "file:///home/anna/gradmend", "dir_info": {"editable": True}}


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (REPOSITORY, "gradmend[mcp] @ git+https://example.org/gradmend.git@abc1234"),
        (CHECKOUT, "gradmend[mcp] @ file:///home/anna/gradmend"),
    ],
)
def test_an_extra_comes_from_where_gradmend_came(origin: object, expected: str) -> None:
    assert requirement("mcp", json.dumps(origin)) == expected


def test_an_installation_from_an_index_names_the_package() -> None:
    assert requirement("mcp", "") == "gradmend[mcp]"
    assert requirement("", "") == "gradmend"


def test_the_command_is_one_word_for_a_shell() -> None:
    pip, install, wanted = shlex.split(pip_install("sandbox"))
    assert (pip, install) == ("pip", "install")
    assert wanted.startswith("gradmend[sandbox]")
