"""`torch.compile` without a compiler of code: graphs are traced and joined, and run as they are."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch

from .finding import Report

GENERATES = ("inductor", "cudagraphs")  # code, for which there is no compiler here
_SAYS = "its graphs run as they are: no code is generated for them"


def install(report: Report) -> None:
    """Compile only so far that forward and backward are one graph each, which is what autograd
    sees.

    Modes and options are those of generated code.
    """
    compiler: Any = torch.compile

    @wraps(compiler)
    def compiling(model: Any = None, **options: Any) -> Any:
        backend = options.get("backend", "inductor")
        if backend in GENERATES and not options.get("disable"):
            report("torch.compile", _SAYS)
            kept = {k: v for k, v in options.items() if k not in ("mode", "options")}
            return compiler(model, **{**kept, "backend": "aot_eager"})
        return compiler(model, **options)

    torch_module: Any = torch
    torch_module.compile = compiling
