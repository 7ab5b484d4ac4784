"""Lightning: modules, and a trainer that makes a few steps as the real one would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import wraps
from importlib import import_module
from inspect import signature
from itertools import islice
from types import ModuleType
from typing import Any

import torch
from torch import nn

from .configs import Config
from .finding import Report, when_imported
from .nothing import Nothing, NothingModule

PROVIDES = ("lightning", "pytorch_lightning", "lightning_fabric")
SAYS = "not installed here: a likeness of its trainer makes a few steps"
EPOCHS, BATCHES = 2, 6
_PRECISE = ("None", "32", "64")
_OF_ACCELERATORS = frozenset({"strategy", "precision", "sync_batchnorm", "num_nodes"})


def install(report: Report) -> None:
    """The real trainer, where that is installed, trains on the CPU, whatever it is told to want,
    without the arguments that it does not know any more, and logs to nothing where what it is to
    log to is not installed."""

    def on_the_cpu(module: Any) -> None:
        trainer, original = module.Trainer, module.Trainer.__init__
        known = frozenset(signature(original).parameters)

        @wraps(original)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            if kwargs.get("accelerator", "auto") not in ("auto", "cpu"):
                report("cuda", "the trainer stays on the CPU")
                kwargs |= {"accelerator": "cpu", "devices": 1}
                kwargs = {k: v for k, v in kwargs.items() if k not in _OF_ACCELERATORS}
            if not str(kwargs.get("precision")).startswith(_PRECISE):
                report("cuda", "numbers stay as precise as the CPU has them")
                del kwargs["precision"]
            for name in sorted(kwargs.keys() - known):
                report("lightning", f"the trainer here has no argument `{name}`: it was left out")
                del kwargs[name]
            original(self, *args, **kwargs)

        trainer.__init__ = init

    for package in ("lightning.pytorch", "pytorch_lightning"):
        when_imported(f"{package}.trainer.trainer", on_the_cpu)
        when_imported(f"{package}.loggers", _log_to_nothing)


def _log_to_nothing(module: Any) -> None:
    base = getattr(module, "Logger", None)
    if base is None:  # it is being imported by what it imports
        return
    silent = import_module(base.__module__).DummyLogger

    for name, kind in vars(module).items():
        if name.endswith("Logger") and isinstance(kind, type) and kind is not base:
            _wait_for_its_package(kind, silent, base)


def _wait_for_its_package(kind: Any, silent: Any, base: Any) -> None:
    """A logger of this class stays one, and logs nothing, where the package it needs is missing."""
    original = kind.__init__
    parts = {k: v for one in (base, silent) for k, v in vars(one).items() if k[:2] != "__"}

    @wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self, *args, **kwargs)
        except ModuleNotFoundError:
            self.__class__ = type(kind.__name__, (silent, type(self)), parts)
            vars(self).update(vars(silent()))

    kind.__init__ = init


class LightningModule(nn.Module):
    """The interface that scripts subclass."""

    automatic_optimization = True
    current_epoch = global_step = 0
    trainer: Any = None
    logger: Any = Nothing()
    _optimizers: Any = ()

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    @property
    def hparams(self) -> Any:
        return self.__dict__.setdefault("_hparams", Config())

    def save_hyperparameters(self, *args: Any, **kwargs: Any) -> None:
        """Keep the arguments of `__init__` that are in sight of the caller."""
        import inspect
        import sys

        names = inspect.signature(type(self).__init__).parameters
        sight = sys._getframe(1).f_locals
        self.hparams.update({n: sight[n] for n in names if n in sight and n != "self"})
        for given in args:
            self.hparams.update(given if isinstance(given, dict) else {})

    def log(self, *args: Any, **kwargs: Any) -> None:
        pass

    log_dict = print = toggle_optimizer = untoggle_optimizer = log

    def optimizers(self, *args: Any, **kwargs: Any) -> Any:
        made = list(self._optimizers)
        return made[0] if len(made) == 1 else made

    def lr_schedulers(self) -> Any:
        return Nothing()

    def manual_backward(self, loss: Any, *args: Any, **kwargs: Any) -> None:
        loss.backward(*args, **kwargs)

    def clip_gradients(self, *args: Any, **kwargs: Any) -> None:
        pass

    @classmethod
    def load_from_checkpoint(cls, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("map_location", None)
        return cls(**kwargs)


class LightningDataModule:
    """The interface of data; its hooks are called before the loaders are asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def prepare_data(self) -> None:
        pass

    def setup(self, stage: Any = None) -> None:
        pass

    def save_hyperparameters(self, *args: Any, **kwargs: Any) -> None:
        pass


class Trainer(Nothing):
    """Two epochs of a few batches, each followed by a validation."""

    def __init__(self, *args: Any, max_epochs: Any = EPOCHS, **kwargs: Any) -> None:
        limit = max_epochs if isinstance(max_epochs, int) and max_epochs > 0 else EPOCHS
        self.max_epochs = min(limit, EPOCHS)
        self.accumulate = int(kwargs.get("accumulate_grad_batches") or 1)
        self.current_epoch = self.global_step = 0
        self.callback_metrics: dict[str, Any] = {}

    def fit(
        self, model: Any, train_dataloaders: Any = None, val_dataloaders: Any = None, **named: Any
    ) -> None:
        """Train; loaders come from here, from a data module, or from the model itself."""
        data = named.get("datamodule")
        if isinstance(train_dataloaders, LightningDataModule):
            data, train_dataloaders = train_dataloaders, None
        for source in (data, model):
            for hook in ("prepare_data", "setup"):
                _call(source, hook, *(["fit"] if hook == "setup" else []))
        loader = train_dataloaders or named.get("train_dataloader")
        loader = loader or _loader(data, model, "train_dataloader")
        model.trainer = self
        made = model.configure_optimizers()
        model._optimizers = _optimizers(made)
        _call(model, "on_fit_start")
        _call(model, "on_train_start")
        for epoch in range(self.max_epochs):
            self.current_epoch = model.current_epoch = epoch
            self._epoch(model, loader)
            self._validate(model, val_dataloaders or _loader(data, model, "val_dataloader"))
        _call(model, "on_train_end")

    def _epoch(self, model: Any, loader: Iterable[Any]) -> None:
        model.train()
        _call(model, "on_train_epoch_start")
        outputs = []
        for number, batch in enumerate(islice(loader, BATCHES * self.accumulate)):
            _call(model, "on_train_batch_start", batch, number)
            for arguments in self._turns(model, batch, number):
                outputs.append(self._turn(model, arguments, number))
            _call(model, "on_train_batch_end", outputs[-1:], batch, number)
            self.global_step = model.global_step = model.global_step + 1
        _call(model, "training_epoch_end", outputs)
        _call(model, "on_train_epoch_end")

    def _turns(self, model: Any, batch: Any, number: int) -> Iterator[tuple[Any, ...]]:
        """The arguments of each call of `training_step` for one batch."""
        wanted = model.training_step.__code__.co_argcount - 1
        if wanted >= 3 and len(model._optimizers) > 1:
            yield from ((batch, number, turn) for turn in range(len(model._optimizers)))
        else:
            yield (batch, number)[: max(wanted, 1)]

    def _turn(self, model: Any, arguments: tuple[Any, ...], number: int) -> Any:
        if not model.automatic_optimization:
            return model.training_step(*arguments)
        optimizer = model._optimizers[arguments[2] if len(arguments) > 2 else 0]
        told = model.training_step(*arguments)
        loss = told.get("loss") if isinstance(told, dict) else told
        if loss is None:
            return told
        if number % self.accumulate == 0:
            optimizer.zero_grad()
        (loss / self.accumulate if self.accumulate > 1 else loss).backward()
        if (number + 1) % self.accumulate == 0:
            optimizer.step()
        return (
            {k: _detached(v) for k, v in told.items()} if isinstance(told, dict) else loss.detach()
        )

    def _validate(self, model: Any, loader: Any) -> None:
        if loader is None or not hasattr(model, "validation_step"):
            return
        model.eval()
        with torch.no_grad():
            _call(model, "on_validation_epoch_start")
            outputs = [model.validation_step(b, n) for n, b in enumerate(islice(loader, BATCHES))]
            _call(model, "validation_epoch_end", outputs)
            _call(model, "on_validation_epoch_end")

    def validate(self, *args: Any, **kwargs: Any) -> list[Any]:
        return []

    test = predict = validate


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def _call(owner: Any, name: str, *args: Any) -> None:
    method = getattr(owner, name, None)
    if method is None:
        return
    wanted = method.__code__.co_argcount - 1 if hasattr(method, "__code__") else len(args)
    method(*args[: max(wanted, 0)])


def _loader(data: Any, model: Any, name: str) -> Any:
    for source in (data, model):
        if source is not None and hasattr(source, name):
            return getattr(source, name)()
    return None


def _optimizers(made: Any) -> list[Any]:
    """The optimizers in what `configure_optimizers` may return."""
    if isinstance(made, dict):
        made = made["optimizer"]
    if isinstance(made, tuple) and made and isinstance(made[0], list):
        made = made[0]
    listed = list(made) if isinstance(made, list | tuple) else [made]
    return [entry["optimizer"] if isinstance(entry, dict) else entry for entry in listed]


def seed_everything(seed: int = 0, *args: Any, **kwargs: Any) -> int:
    """Seed torch."""
    torch.manual_seed(seed)
    return seed


def module(name: str) -> ModuleType:
    """`lightning`, `lightning.pytorch`, `pytorch_lightning.callbacks`, …"""
    kinds = (LightningModule, LightningDataModule, Trainer)
    named = {kind.__name__: kind for kind in kinds}
    return NothingModule(
        name, ("pytorch", "callbacks", "loggers"), seed_everything=seed_everything, **named
    )
