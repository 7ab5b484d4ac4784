"""The tools on the user's own machine, over standard input and output: `gradmend mcp`."""

from __future__ import annotations

import logging
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field

from app.agents.answers import Applied, Diagnosed, applied, diagnosed
from app.agents.run_command import findings_of_run, folder_of
from app.agents.tools import READS, RUNS, refusals, server_of
from app.agents.verify_tool import VerifiedChange, add_verify_here, verified_change
from app.change import verify_change
from app.change_schemas import ChangeRequest
from app.command.fixing import caveat, chosen, why_none, written
from app.command.options import ARGUMENTS, BadInput, Options
from app.command.project import Target, pasted, target_of
from app.command.sandbox_and_reader import tools
from app.diagnose import diagnose
from app.schemas import Cause, Findings, Patch
from gradmend.run_wrapper import last_result

REMEMBERED = 32


@dataclass(frozen=True)
class EarlierDiagnosis:
    """An earlier diagnosis; `apply` writes the fix that the options choose into its files."""

    findings: Findings
    apply: Callable[[Options], Applied]
    target: Target | None = None


class Reporting:
    """Reports progress to the agent's host."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._reported = 0

    async def stage(self, stage: str, done: int, total: int, message: str) -> None:
        self._reported += 1
        await self._context.report_progress(self._reported, None, message)

    async def cause(self, cause: Cause) -> None: ...

    async def patch(self, patch: Patch) -> None: ...


@dataclass
class LocalDesk:
    """Diagnoses files of this machine in an embedded sandbox; remembers the last few, to apply."""

    known: OrderedDict[str, EarlierDiagnosis] = field(default_factory=OrderedDict)

    async def diagnose(self, target: Target, options: Options, context: Context) -> Diagnosed:
        """Diagnose a script, and remember it under a number."""
        async with tools(options) as (sandbox, reader):
            findings = await diagnose(
                target.request, sandbox=sandbox, reader=reader, progress=Reporting(context)
            )
        return diagnosed(
            self._remember(EarlierDiagnosis(findings, partial(_write, target, findings), target)),
            findings,
        )

    async def run(
        self, command: list[str], folder: Path, options: list[str], limit_s: float, context: Context
    ) -> Diagnosed:
        """Run a command of the user's, and remember what was found, as above."""
        found = await findings_of_run(command, folder, options, limit_s, context)
        if not found.causes:
            return diagnosed("", found.model_copy(update={"verdict": "inconclusive"}))
        kept = last_result.load(str(folder))
        return diagnosed(self._remember(EarlierDiagnosis(found, partial(_write_kept, kept))), found)

    def _remember(self, known: EarlierDiagnosis) -> str:
        name = str(int(next(reversed(self.known), "0")) + 1)
        self.known[name] = known
        while len(self.known) > REMEMBERED:
            self.known.popitem(last=False)
        return name

    async def apply(self, name: str, n: int | None, unsafe: bool, context: Context) -> Applied:
        """Write a fix: a safe one, unless others are asked for; never one that failed a check."""
        options = Options((), fix=n or 1, chosen=n is not None, unsafe=unsafe, switches=ARGUMENTS)
        return self._known(name).apply(options)

    async def findings(self, name: str, context: Context) -> Findings:
        """Return what an earlier diagnosis found."""
        return self._known(name).findings

    async def verify(self, request: ChangeRequest, context: Context) -> VerifiedChange:
        """Compare two versions."""
        async with tools(Options(())) as (sandbox, reader):
            found = await verify_change(
                request, sandbox=sandbox, reader=reader, progress=Reporting(context)
            )
        return verified_change(found)

    def diagnosed(self, name: str) -> Target:
        """Return the sources of an earlier diagnosis."""
        target = self._known(name).target
        if target is None:
            raise BadInput("That was a command's run, not a script; give `path` and `before`.")
        return target

    def _known(self, name: str) -> EarlierDiagnosis:
        if name not in self.known:
            raise BadInput(f"There is no diagnosis {name!r} any more; call diagnose again.")
        return self.known[name]


def _write(target: Target, findings: Findings, options: Options) -> Applied:
    patch = chosen(findings, options)
    if target.path is None and patch is not None:
        return applied(f"The code came without a file: apply this diff{caveat(patch)}.", patch.diff)
    return applied(written(findings, patch, target, options))


def _write_kept(kept: last_result.Last, options: Options) -> Applied:
    try:
        patch = chosen(kept.findings, options)
        if patch is None:
            return applied(f"Nothing was changed: {why_none(kept.findings, options)}.")
        return applied(f"Changed {', '.join(last_result.write(kept, patch))}{caveat(patch)}.")
    except (last_result.NothingKept, OSError) as error:
        raise BadInput(f"Nothing was changed: {error}") from None


def local_server() -> MCPServer:
    """Return the server of `gradmend mcp`."""
    desk = LocalDesk()
    server = server_of(desk)
    add_verify_here(server, desk)

    @server.tool(annotations=READS)
    async def diagnose(
        context: Context,
        path: Annotated[
            str, Field(description="the script or notebook; its imports are followed")
        ] = "",
        code: Annotated[str, Field(description="instead of a path: the code itself")] = "",
        traceback: Annotated[str, Field(description="the error as it was printed")] = "",
        args: Annotated[list[str] | None, Field(description="the script's arguments")] = None,
        run: Annotated[Literal["auto", "never"], Field(description="never: only read")] = "auto",
    ) -> Diagnosed:
        """Find the cause of an autograd error, with a fix that was run in a sandbox."""
        with refusals():
            script = Path(path)
            options = Options((script,), args=tuple(args or ()), run=run)
            if path:
                target = target_of(script, options, traceback)
            else:
                target = pasted(code, options, traceback)
            return await desk.diagnose(target, options, context)

    @server.tool(annotations=RUNS)
    async def run(
        context: Context,
        command: Annotated[
            list[str], Field(description='as typed: ["python", "train.py", "--lr", "1e-3"]')
        ],
        folder: Annotated[str, Field(description="where to run it; by default here")] = ".",
        check: Annotated[
            bool, Field(description="also tell what goes wrong without an error")
        ] = False,
        rerun: Annotated[
            bool, Field(description="run it again with the fix in memory, to test the fix")
        ] = True,
        limit_s: Annotated[float, Field(gt=0, le=86400, description="seconds in all")] = 1800,
    ) -> Diagnosed:
        """Run the user's own command, with their data, packages and GPU, outside of any sandbox; if
        autograd fails, find the cause and a fix that was tested with that command."""
        with refusals():
            options = ["--check"] * check + ["--no-rerun"] * (not rerun)
            place = folder_of(command, folder)
            return await desk.run(command, place, options, limit_s, context)

    return server


def serve() -> None:
    """Answer on standard output until standard input ends; logs go to standard error."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    local_server().run("stdio")
