"""What is known of torch's operations is what the installed torch does."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch

from analyzers.repair.value_only.arrays import SHARED
from analyzers.source import ops
from tests.operators import FILE, measured


def test_the_facts_are_those_of_the_installed_torch() -> None:
    """`python -m tests.operators` renews the file, for a new torch or a changed measurement."""
    assert json.loads(FILE.read_text()) == measured()


def test_an_in_place_operation_saves_what_its_plain_form_does() -> None:
    assert ops.op("mul_") == ops.op("mul") == ops.Op(True, inputs=True, bilinear=True)
    assert ops.op("add_").saves is False
    assert ops.op("a_function_of_the_script") is ops.UNKNOWN


def test_what_only_selects_has_no_new_entries() -> None:
    assert ops.op("maximum").selects
    assert ops.op("gather").selects
    assert not ops.op("relu").selects
    assert not ops.op("sigmoid").selects


def test_layers_without_parameters_are_known_with_their_operations() -> None:
    assert ops.WEIGHTLESS["ReLU6"] == "hardtanh"
    assert ops.WEIGHTLESS["ReflectionPad2d"] == "pad"
    assert not {"Linear", "PReLU", "InstanceNorm2d", "TransformerEncoder"} & ops.WEIGHTLESS.keys()
    assert "soft_margin_loss" in ops.LOSSES
    assert "ParameterDict" in ops.CONTAINERS


def test_views_are_those_of_the_schemas() -> None:
    assert {"moveaxis", "unflatten", "as_strided", "hsplit", "view_as_real", "T"} <= ops.VIEWS
    assert not {"clone", "to", "mul", "contiguous"} & ops.VIEWS


def test_distributions_without_gradients_are_those_of_torch() -> None:
    kinds = {name: getattr(torch.distributions, name) for name in torch.distributions.__all__}
    of_tensors = {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type)
        and issubclass(kind, torch.distributions.Distribution)
        and kind not in (torch.distributions.Distribution, torch.distributions.ExponentialFamily)
    }
    assert {n for n, kind in of_tensors.items() if kind.has_rsample is False} == ops.NO_RSAMPLE


PAIRS = frozenset({"maximum", "minimum", "arctan2", "hypot", "logaddexp", "dot", "outer", "matmul"})
LISTS = frozenset({"stack", "concatenate"})


@pytest.mark.parametrize("name", sorted(SHARED))
def test_a_function_that_numpy_shares_with_torch_means_the_same(name: str) -> None:
    x, y = (torch.tensor(v, dtype=torch.float64) for v in ([0.2, 0.5, 0.9], [0.7, 0.3, 0.1]))
    given: tuple[Any, ...] = (x,)
    if name in PAIRS:
        given = (x, y)
    elif name in LISTS:
        given = ([x, y],)
    elif name == "clip":
        given = (x, 0.3, 0.8)
    elif name == "where":
        given = (x > 0.4, x, y)
    elif name == "einsum":
        given = ("i,i->", x, y)
    more = {"correction": 0} if name in ("std", "var") else {}  # as the patch says it
    of_numpy = getattr(np, name)(*map(as_arrays, given))
    of_torch = getattr(torch, name)(*given, **more)
    assert np.allclose(of_numpy, of_torch.numpy())


def as_arrays(value: Any) -> Any:
    if isinstance(value, list):
        return [one.numpy() for one in value]
    return value.numpy() if isinstance(value, torch.Tensor) else value
