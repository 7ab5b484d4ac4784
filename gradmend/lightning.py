"""A callback for Lightning: an autograd error in a training carries its cause.

trainer = Trainer(callbacks=[GradmendCallback()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradmend.explaining import note_cause

if TYPE_CHECKING:
    Callback = object
else:
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback


class GradmendCallback(Callback):
    """Puts the cause under the traceback; with `run`, the script is also run in a sandbox."""

    def __init__(self, *, run: bool = False) -> None:
        super().__init__()
        self._run = run

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Explain the exception; the trainer calls this before it raises it again."""
        note_cause(exception, run=self._run)
