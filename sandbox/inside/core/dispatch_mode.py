"""What sees every operation below autograd, of ours."""

from __future__ import annotations

import sys
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

_Mode: Any = TorchDispatchMode  # untyped in torch


class DispatchMode(_Mode):  # type: ignore[misc]
    """Torch's own mode, without its compiler where that is not loaded.

    Torch shields a mode from `torch.compile`, and imports the compiler for that at the mode's first
    operation: this takes longer than most runs. Programs that compile run without compiling here.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return "torch._dynamo" in sys.modules
