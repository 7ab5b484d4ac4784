"""Gradmend: the cause of an autograd error, and a fix that has been run.

The one name that an installation adds. The service, the analyses and the sandbox lie in a folder
of its own (see `gradmend.parts`), so that a project's own `app` or `sandbox` is never hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradmend.explaining import Explanation, explain, watch
    from gradmend.same_training import TrainingDiffers, assert_same_training

__all__ = ["Explanation", "TrainingDiffers", "assert_same_training", "explain", "watch"]


def __getattr__(name: str) -> Any:
    if name in ("TrainingDiffers", "assert_same_training"):
        from gradmend import same_training

        return getattr(same_training, name)
    if name in __all__:
        from gradmend import explaining

        return getattr(explaining, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Handle `%load_ext gradmend`."""
    from gradmend.notebook import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Handle `%unload_ext gradmend`."""
    from gradmend.notebook import unload

    unload(shell)
