"""Adapters of the model hub that were not sent, for PEFT.

`PeftModel.from_pretrained` puts adapters with random weights on the model that it is given. As the
real one does, it freezes them unless `is_trainable=True`.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from ..stubs.finding import when_imported
from ..stubs.synthesized import report_synthesized
from .weights import is_absent

RANK = 4


def install() -> None:
    """Hook PEFT if it is installed."""
    when_imported("peft", _adapters)


def _adapters(peft: Any) -> None:
    original = peft.PeftModel.from_pretrained.__func__

    @wraps(original)
    def from_pretrained(
        cls: Any,
        model: Any,
        model_id: Any,
        adapter_name: str = "default",
        is_trainable: bool = False,
        **kwargs: Any,
    ) -> Any:
        if not is_absent(model_id):
            return original(cls, model, model_id, adapter_name, is_trainable, **kwargs)
        report_synthesized(str(model_id), "an adapter of low rank with random weights")
        config = kwargs.get("config") or peft.LoraConfig(r=RANK, target_modules="all-linear")
        config.inference_mode = not is_trainable
        return peft.get_peft_model(model, config, adapter_name=adapter_name)

    hooked: Any = from_pretrained
    peft.PeftModel.from_pretrained = classmethod(hooked)
