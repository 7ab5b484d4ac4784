"""The language server: it reads a document at each pause in typing, and runs it when asked."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from app.command.config import config_of
from app.command.options import BadInput, Options, Run
from app.command.project import target_of
from app.diagnose import NoProgress, diagnose, prepare_reader
from app.editing.findings import DocumentFindings, actions, diagnostics
from app.request.reader import Reader
from app.run.sandboxes import open_sandbox
from app.schemas import DiagnosisRequest, Findings
from app.settings import Settings
from app.version import package_version

Action = types.CodeAction | types.Command

PAUSE_S = 0.4  # without a key, before what was typed is read
RUN = "gradmend.run"  # the command that runs the document and tests the fixes


class Editing:
    """The open documents and what is known of each; one reading or run a document at a time."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._seen: dict[str, DocumentFindings] = {}
        self._work: dict[str, asyncio.Task[None]] = {}
        self._reader: Reader | None = None

    def changed(self, uri: str) -> None:
        """Read the document once nothing more is typed; what was under way is of no use."""
        self._start(uri, "never", PAUSE_S)

    def closed(self, uri: str) -> None:
        """Forget the document."""
        if (work := self._work.pop(uri, None)) is not None:
            work.cancel()
        self._seen.pop(uri, None)
        self._publish(uri, None, [])

    async def run(self, uri: str) -> None:
        """Run the document in the sandbox, and test the fixes."""
        await asyncio.gather(self._start(uri, "auto", 0), return_exceptions=True)

    def actions(self, uri: str) -> list[Action]:
        """Return the fixes of the document as it is now, and the command that tests them."""
        seen = self._seen.get(uri)
        document = self._server.workspace.get_text_document(uri)
        if seen is None or seen.version != document.version or not diagnostics(seen):
            return []
        found: list[Action] = [*actions(seen)]
        if seen.target.request.run == "never":
            title = "Gradmend: run it and test the fixes"
            found.append(types.Command(title, RUN, arguments=[uri]))
        return found

    def _start(self, uri: str, run: Run, pause_s: float) -> asyncio.Task[None]:
        if (work := self._work.get(uri)) is not None:
            work.cancel()
        self._work[uri] = asyncio.create_task(self._look(uri, run, pause_s))
        return self._work[uri]

    async def _look(self, uri: str, run: Run, pause_s: float) -> None:
        await asyncio.sleep(pause_s)
        document = self._server.workspace.get_text_document(uri)
        path, version = Path(to_fs_path(uri) or "train.py"), document.version
        try:
            config = config_of(path.parent)
            options = Options((path,), run=run, time_limit_s=config.time_limit_s)
            target = target_of(path, options, text=document.source)
        except BadInput as bad:
            logging.info("%s is not read: %s", path, bad)
            return
        found = await self._found(target.request)
        self._seen[uri] = seen = DocumentFindings(uri, version, target, found, config.ignore)
        self._publish(uri, version, diagnostics(seen))

    async def _found(self, request: DiagnosisRequest) -> Findings:
        """Diagnose in a reader that stays, and in a sandbox of the run's own. The reader's
        processes start afresh: this one has threads, so it is never forked."""
        if self._reader is None:
            self._reader = Reader(workers=1, prepare=prepare_reader)
        sandbox = open_sandbox(Settings()) if request.run == "auto" else None
        try:
            return await diagnose(
                request, sandbox=sandbox, reader=self._reader, progress=NoProgress()
            )
        finally:
            if sandbox is not None:
                await sandbox.close()

    async def close(self) -> None:
        """End the reader's processes."""
        if self._reader is not None:
            await self._reader.close()

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=found)
        )


def language_server() -> LanguageServer:
    """Return the server of `gradmend lsp`."""
    server = LanguageServer("gradmend", package_version())
    editing = Editing(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        editing.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        editing.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        editing.closed(params.text_document.uri)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    async def code_actions(
        params: types.CodeActionParams,
    ) -> list[Action]:
        return editing.actions(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    async def ended(params: None) -> None:
        await editing.close()

    @server.command(RUN)
    async def run(uri: str) -> None:
        await editing.run(uri)

    return server


def serve() -> None:
    """Answer on standard output until standard input ends; logs go to standard error."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    language_server().start_io()
