"""Accelerate: one process, which changes nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

import torch

from .nothing import Nothing, NothingModule

PROVIDES = ("accelerate",)
SAYS = "not installed here: one process, whose models and loaders stay as they are"


class Accelerator(Nothing):
    """What is prepared comes back as it was; `backward` walks."""

    is_main_process = is_local_main_process = sync_gradients = True
    num_processes = 1
    process_index = local_process_index = 0
    mixed_precision = "no"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.device = torch.device("cpu")
        self.gradient_accumulation_steps = int(kwargs.get("gradient_accumulation_steps") or 1)

    def prepare(self, *given: Any, **kwargs: Any) -> Any:
        return given[0] if len(given) == 1 else given

    prepare_model = prepare_optimizer = prepare_data_loader = prepare

    def backward(self, loss: Any, **kwargs: Any) -> None:
        (loss / self.gradient_accumulation_steps).backward(**kwargs)

    def unwrap_model(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        return model

    gather = gather_for_metrics = reduce = pad_across_processes = unwrap_model

    def autocast(self, *args: Any, **kwargs: Any) -> AbstractContextManager[None]:
        return nullcontext()

    accumulate = main_process_first = no_sync = autocast

    def clip_grad_norm_(self, parameters: Any, norm: float, *args: Any) -> Any:
        return torch.nn.utils.clip_grad_norm_(parameters, norm)

    def print(self, *args: Any, **kwargs: Any) -> None:
        print(*args, **kwargs)


def module(name: str) -> ModuleType:
    """`accelerate`, `accelerate.utils`."""

    def set_seed(seed: int, *args: Any, **kwargs: Any) -> None:
        torch.manual_seed(seed)

    return NothingModule(name, Accelerator=Accelerator, set_seed=set_seed)
