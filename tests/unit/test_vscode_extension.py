"""The VS Code extension: its manifest, and what it asks of the language server."""

from __future__ import annotations

import json
import re
from pathlib import Path

from app.editing.language_server import RUN, language_server

HOME = Path(__file__).parents[2] / "editor" / "vscode"
MANIFEST = json.loads((HOME / "package.json").read_text())
SOURCE = (HOME / "extension.js").read_text()


def test_every_command_of_the_manifest_is_registered() -> None:
    contributed = {command["command"] for command in MANIFEST["contributes"]["commands"]}
    assert contributed == set(re.findall(r'registerCommand\("([^"]+)"', SOURCE))


def test_it_asks_for_a_command_that_the_server_has() -> None:
    assert RUN in language_server().protocol.fm.commands
    assert f'const RUN = "{RUN}"' in SOURCE
    assert 'args: ["lsp"]' in SOURCE


def test_what_is_started_can_be_named() -> None:
    properties = MANIFEST["contributes"]["configuration"]["properties"]
    assert properties["gradmend.command"]["default"] == "gradmend"
