"""What several commands take: their options, and what runs them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from app.command.options import Form

Runs = Callable[[Coroutine[Any, Any, int]], int]
"""What runs a command to its end, and returns its exit code."""

Server = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="GRADMEND_SERVER",
        help="use a running `gradmend serve` instead of a local sandbox",
    ),
]
Torch = Annotated[
    str | None,
    typer.Option(
        metavar="PYTHON",
        help="run with another torch: an interpreter (`env/bin/python`), or a version that "
        "GRADMEND_TORCH_SANDBOXES or the server names",
    ),
]
FurtherFiles = Annotated[
    list[Path] | None, typer.Option("--file", help="another file; imports are always followed")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=1, max=60, help="seconds that one run may take", show_default="20"),
]
OutputFormat = Annotated[Form, typer.Option("--format", "-f", help="output format")]
AsJson = Annotated[bool, typer.Option("--json", help="the same as --format json")]
