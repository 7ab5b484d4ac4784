"""The tools themselves, the same for a machine of the user's own and for the service."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from app.agents.answers import Applied, Diagnosed, Explained, explained
from app.http.problems import ProblemError
from app.present.guide import guides
from app.schemas import DiagnosisRequest, SourceFile
from app.version import package_version

INSTRUCTIONS = """Finds why a PyTorch training script fails in autograd ("Trying to backward through
the graph a second time", in-place changes, missing graphs) and returns a fix that has been run in
a sandbox. Call diagnose, then apply. Do not add retain_graph=True yourself: it hides the fault."""


class Applies(Protocol):
    """Who knows earlier diagnoses. Failures are `ProblemError` or `ValueError`, as messages."""

    async def apply(self, name: str, n: int, context: Context) -> Applied: ...


class Diagnoses(Protocol):
    """Who takes code and finds what is wrong with it. Failures: as above."""

    async def diagnose(self, request: DiagnosisRequest, context: Context) -> Diagnosed: ...


def server_of(desk: Applies) -> MCPServer:
    """A server of the tools that need no disk of the user's."""
    server = MCPServer("gradmend", instructions=INSTRUCTIONS, version=package_version())

    @server.tool()
    async def explain_pattern(
        pattern: Annotated[str, Field(description="as `diagnose` names it: recurrent-state")],
    ) -> Explained:
        """What a kind of fault is, and how it is mended."""
        guide = guides().get(pattern)
        if guide is None:
            raise ToolError(f"There is no such pattern; there are: {', '.join(guides())}.")
        return explained(guide)

    @server.tool()
    async def apply(
        context: Context,
        id: Annotated[str, Field(description="of a diagnosis")],
        n: Annotated[int, Field(ge=1, description="which fix; 1 is the best")] = 1,
    ) -> Applied:
        """Write a fix into the user's files; the service, which has no files, answers its diff."""
        with refusals():
            return await desk.apply(id, n, context)

    return server


def add_diagnose(server: MCPServer, desk: Diagnoses) -> None:
    """Add the tool that takes code rather than files."""

    @server.tool()
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
    """Tells an agent what it can do about an error, rather than that there was one."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ProblemError):
            raise ToolError(error.detail) from None
        if isinstance(error, ValueError):
            raise ToolError(str(error.args[0] if error.args else error)) from None
