"""`gradmend lsp`, asked by a client of the protocol, as an editor asks it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.case_files import load_case
from tests.processes import COMMAND

FAILING = load_case("recurrent_state/char_lm").stripped
HEALTHY = load_case("recurrent_state/ok_detached_each_batch").stripped
WAIT_S = 90


class Editor:
    """A client that keeps what the server publishes."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.client, self.uri = client, path.as_uri()
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

    async def diagnostics(self) -> list[types.Diagnostic]:
        """What is published next."""
        params = await asyncio.wait_for(self.published.get(), WAIT_S)
        assert params.uri == self.uri
        return list(params.diagnostics)

    def open(self, text: str) -> None:
        document = types.TextDocumentItem(self.uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    def type(self, text: str, version: int) -> None:
        """Replace the text."""
        named = types.VersionedTextDocumentIdentifier(version, self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(named, [whole]))

    async def actions(self) -> list[types.CodeAction | types.Command]:
        place = types.Range(types.Position(0, 0), types.Position(0, 0))
        asked = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri), place, types.CodeActionContext([])
        )
        found = await self.client.text_document_code_action_async(asked)
        return list(found or [])

    async def fixes(self) -> list[types.CodeAction]:
        return [one for one in await self.actions() if isinstance(one, types.CodeAction)]


@contextlib.asynccontextmanager
async def editing(path: Path) -> AsyncIterator[Editor]:
    client = LanguageClient("tests", "1")
    editor = Editor(client, path)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def published(params: types.PublishDiagnosticsParams) -> None:
        editor.published.put_nowait(params)

    await client.start_io(COMMAND, "lsp", cwd=path.parent)
    root = path.parent.as_uri()
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=root))
    client.initialized(types.InitializedParams())
    try:
        yield editor
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()  # type: ignore[no-untyped-call]


def applied(text: str, edits: list[types.TextEdit]) -> str:
    lines = text.splitlines(keepends=True)
    for edit in reversed(edits):
        lines[edit.range.start.line : edit.range.end.line] = [edit.new_text]
    return "".join(lines)


@pytest.mark.rotating(4)
async def test_what_is_typed_is_underlined_and_fixed(tmp_path: Path) -> None:
    async with editing(tmp_path / "train.py") as editor:
        editor.open(HEALTHY)
        assert await editor.diagnostics() == []
        assert await editor.actions() == []
        editor.type(FAILING, 2)
        (found,) = await editor.diagnostics()
        assert (found.code, found.source) == ("GM011", "gradmend")
        assert found.severity == types.DiagnosticSeverity.Warning
        assert found.message.endswith("it was not run.")
        assert str(found.code_description and found.code_description.href).endswith("GM011")
        reported = [one.message for one in found.related_information or []]
        assert reported == ["builds the graph", "frees the graph", "needs it again: error"]
        line = FAILING.splitlines()[found.range.start.line]
        assert line[found.range.start.character : found.range.end.character] == "hidden"
        (run,) = [one for one in await editor.actions() if isinstance(one, types.Command)]
        assert run.command == "gradmend.run"
        fixes = await editor.fixes()
        assert not any(fix.is_preferred for fix in fixes)  # only read: nothing is known to be safe
        assert fixes[0].edit is not None
        assert fixes[0].edit.changes is not None
        fixed = applied(FAILING, list(fixes[0].edit.changes[editor.uri]))
        assert "detach()" in fixed
        editor.type(fixed, 3)
        assert await editor.diagnostics() == []


@pytest.mark.rotating(4)
async def test_a_run_makes_the_safe_fix_the_preferred_one(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    async with editing(script) as editor:
        editor.open(FAILING)
        assert len(await editor.diagnostics()) == 1
        command = types.ExecuteCommandParams("gradmend.run", [editor.uri])
        await editor.client.workspace_execute_command_async(command)
        (found,) = await editor.diagnostics()
        assert found.severity == types.DiagnosticSeverity.Error
        fixes = await editor.fixes()
        assert len(fixes) == len(await editor.actions())
        assert [fix.is_preferred for fix in fixes] == [True] + [False] * (len(fixes) - 1)


@pytest.mark.rotating(4)
async def test_a_line_that_is_marked_is_left_alone(tmp_path: Path) -> None:
    lines = FAILING.splitlines(keepends=True)
    async with editing(tmp_path / "train.py") as editor:
        editor.open(FAILING)
        (found,) = await editor.diagnostics()
        at = found.range.start.line
        lines[at] = lines[at].rstrip("\n") + "  # gradmend: ignore[GM011]\n"
        editor.type("".join(lines), 2)
        assert await editor.diagnostics() == []
