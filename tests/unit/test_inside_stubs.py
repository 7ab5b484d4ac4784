"""Stubs of packages that are not there: scripts get through, and learn nothing false."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tomllib
from argparse import Namespace
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement

from sandbox.inside import stubs
from sandbox.inside.stubs import Finder, gym, tensorboard, wandb
from sandbox.inside.stubs.any_key_mapping import AnyKeyMapping
from sandbox.inside.stubs.null_object import NullObject
from tests.recorded.digests import ROOT


@pytest.fixture
def reported() -> Iterator[list[str]]:
    """Names reported while a finder replaces a package that no machine has."""
    reported: list[str] = []
    finder = Finder({"no_such_logger": tensorboard}, lambda name, *detail: reported.append(name))
    sys.meta_path.append(finder)
    yield reported
    sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name.startswith("no_such_logger")]:
        del sys.modules[name]


def test_a_substitute_is_made_when_imported_and_not_before(reported: list[str]) -> None:
    assert reported == []
    part = importlib.import_module("no_such_logger.deep.down")
    assert isinstance(part, ModuleType)
    assert set(reported) == {"no_such_logger"}


def test_other_missing_packages_stay_missing(reported: list[str]) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_logger_at_all")
    assert reported == []


def test_writers_take_every_call() -> None:
    writer: Any = tensorboard.module("torch.utils.tensorboard").SummaryWriter("runs")
    writer.add_scalar("loss", 1.0, global_step=3)
    with writer as same:
        assert same is writer


def test_a_class_of_a_substitute_can_be_a_base() -> None:
    class Mine(tensorboard.module("tensorboardX").SummaryWriter):  # type: ignore[misc]
        def twice(self) -> int:
            return 2

    assert Mine().twice() == 2


def test_configuration_can_be_read_back() -> None:
    logger: Any = wandb.module("wandb")
    run = logger.init(project="p", config={"lr": 0.1})
    logger.config.update({"depth": 3}, allow_val_change=True)
    run.log({"loss": 1.0})
    assert (logger.config.lr, run.config["depth"]) == (0.1, 3)
    with pytest.raises(AttributeError):
        _ = logger.config.width
    assert logger.init(config=Namespace(lr=0.2)).config.lr == 0.2


def test_nothing_is_empty_false_and_goes_on() -> None:
    nothing = NullObject()
    assert list(nothing) == []
    assert not nothing
    assert isinstance(nothing.any.thing["at"].all(1, b=2), NullObject)


def test_a_setting_that_counts_is_a_number() -> None:
    settings = AnyKeyMapping()
    assert isinstance(settings.n_tags, int)
    assert isinstance(settings.max_message, int)
    assert isinstance(settings.tag, str)


def test_no_package_that_is_installed_has_a_stub() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = project["optional-dependencies"]["packages"]
    installed = {Requirement(one).name.replace("_", "-") for one in listed}
    modules = {
        module
        for module, packages in packages_distributions().items()
        if installed & {name.lower().replace("_", "-") for name in packages}
    }
    assert {"PIL", "omegaconf", "gymnasium"} <= modules
    assert not {
        (name, made.__name__)
        for made in stubs.load()
        for name in getattr(made, "PROVIDES", ())
        if name in modules
    }


def test_gym_is_an_unknown_package_without_gymnasium(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as missing:
        missing.setattr(importlib.util, "find_spec", lambda name: None)
        assert importlib.reload(gym).PROVIDES == ()
    assert importlib.reload(gym).PROVIDES == ("gym",)
