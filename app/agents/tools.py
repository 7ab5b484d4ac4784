"""The tools themselves, the same for a machine of the user's own and for the service."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from app.agents.answers import Applied, Diagnosed, Explained, Shown, explained, shown
from app.http.problems import ProblemError
from app.present.guide import guides
from app.present.lookup import look_up
from app.schemas import DiagnosisRequest, Findings, SourceFile
from app.version import package_version

INSTRUCTIONS = """Finds why a PyTorch training script fails in autograd ("Trying to backward through
the graph a second time", in-place changes, missing graphs), and measures what a change does to the
training. Call diagnose; write your own fix, or take ours (show shows it, apply writes it); then
call verify. Call verify again after any change to a training loop: it runs both versions in a
sandbox and compares every step. Do not add retain_graph=True yourself: it hides the fault."""


READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
"""What a tool may do: `run` starts a command outside of any sandbox."""


class Applies(Protocol):
    """Who knows earlier diagnoses. Failures are `ProblemError` or `ValueError`, as messages."""

    async def apply(self, name: str, n: int | None, unsafe: bool, context: Context) -> Applied: ...

    async def findings(self, name: str, context: Context) -> Findings: ...


class Diagnoses(Protocol):
    """Who takes code and finds what is wrong with it. Failures: as above."""

    async def diagnose(self, request: DiagnosisRequest, context: Context) -> Diagnosed: ...


class StrictServer(MCPServer):
    """Refuses arguments that a tool does not take, by name; the protocol's package drops them."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context | None = None
    ) -> CallToolResult | InputRequiredResult:
        tools = {tool.name: tool.input_schema for tool in await self.list_tools()}
        taken = [*tools[name].get("properties", {})] if name in tools else [*arguments]
        unknown = [argument for argument in arguments if argument not in taken]
        if unknown:
            given, takes = ", ".join(unknown), ", ".join(taken)
            raise ToolError(f"{name} takes no argument {given}; it takes: {takes}.")
        return await super().call_tool(name, arguments, context)


def server_of(desk: Applies) -> MCPServer:
    """Return a server of the tools that need no access to the user's disk."""
    server = StrictServer("gradmend", instructions=INSTRUCTIONS, version=package_version())

    @server.tool(annotations=READS)
    async def explain_pattern(
        pattern: Annotated[
            str, Field(description="as `diagnose` names it (GM011, recurrent-state), or a message")
        ],
    ) -> Explained:
        """What a kind of fault is, and how it is fixed."""
        fitting = look_up(pattern).patterns
        if len(fitting) != 1:
            named = fitting or [*guides().values()]
            listed = ", ".join(f"{guide.id} {guide.name}" for guide in named)
            raise ToolError(f"Which pattern? {listed}.")
        return explained(fitting[0])

    @server.tool(annotations=READS)
    async def show(
        context: Context,
        id: Annotated[str, Field(description="of a diagnosis")],
        n: Annotated[int, Field(ge=1, description="which fix; 1 is the best")] = 1,
        full: Annotated[bool, Field(description="however long it is")] = False,
    ) -> Shown:
        """A fix with its checks and what it does to the training; nothing is written."""
        with refusals():
            patches = (await desk.findings(id, context)).patches
            if n > len(patches):
                raise ToolError(f"There is no fix {n}; there are {len(patches)}.")
            return shown(patches[n - 1], full=full)

    @server.tool(annotations=WRITES)
    async def apply(
        context: Context,
        id: Annotated[str, Field(description="of a diagnosis")],
        n: Annotated[int | None, Field(ge=1, description="which; by default the best")] = None,
        unsafe: Annotated[
            bool, Field(description="also one that changes the training or was not tested")
        ] = False,
    ) -> Applied:
        """Write a safe fix into the user's files; the service, which has none, answers its diff."""
        with refusals():
            return await desk.apply(id, n, unsafe, context)

    return server


def add_diagnose(server: MCPServer, desk: Diagnoses) -> None:
    """Add the tool that takes code rather than files."""

    @server.tool(annotations=READS)
    async def diagnose(
        context: Context,
        code: Annotated[str, Field(description="the script, or the part of it that there is")] = "",
        traceback: Annotated[str, Field(description="the error as it was printed")] = "",
        files: Annotated[
            list[SourceFile] | None, Field(description="further modules, small data files")
        ] = None,
        args: Annotated[list[str] | None, Field(description="the script's arguments")] = None,
        filename: str = "train.py",
        run: Annotated[Literal["auto", "never"], Field(description="never: only read")] = "auto",
    ) -> Diagnosed:
        """Find the cause of an autograd error, with a fix that was run in a sandbox."""
        with refusals():
            request = DiagnosisRequest(
                script=code,
                traceback=traceback,
                files=files or [],
                args=args or [],
                filename=filename,
                run=run,
            )
            return await desk.diagnose(request, context)


class refusals:  # noqa: N801 (reads as a statement)
    """Replaces an error by a message that says what an agent can do about it."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ProblemError):
            raise ToolError(error.detail) from None
        if isinstance(error, ValueError):
            raise ToolError(str(error.args[0] if error.args else error)) from None
