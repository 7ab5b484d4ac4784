"""The facts in `analyzers/source/ops.py`, and the functions that NumPy is said to share with torch,
each tried with the torch that is installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from analyzers.repair.value_only.arrays import SHARED
from analyzers.source import ops

F = nn.functional
Tensor = torch.Tensor
Call = Callable[[Tensor, Tensor], Any]

SPACES: list[Any] = [torch.Tensor, torch, F, torch.linalg, torch.fft]
INDEX = torch.arange(4)
GRID = torch.zeros(4, 4, dtype=torch.long)
MASK = torch.eye(4) > 0
# Arguments behind the first, in the order in which they are tried; `...` is another tensor.
ARGUMENTS: list[tuple[Any, ...]] = [
    *[(), (...,), (..., ...), (..., 0.3)],
    *[(0,), (1,), (2,), (-1,), (0, 1), (0, 2), (0, 1, 2), (0, 0, 2), ((4, 4),), ((1, 1),)],
    *[(INDEX,), (0, INDEX), (0, GRID), (MASK,), (MASK, 0.0), (0, INDEX, ...), (0, GRID, ...)],
]
NOT_TRIED = frozenset({"cuda", "xpu", "all_reduce"})  # want a device, or other processes


def batched(a: Tensor) -> Tensor:
    return a.reshape(1, 1, 4, 4)


def recurrent(kind: Callable[..., nn.RNNBase], a: Tensor) -> Any:
    return kind(4, 4, dtype=a.dtype)(a)[0]


def attention(a: Tensor) -> Any:
    return nn.MultiheadAttention(4, 1, dtype=a.dtype)(a, a, a)[0]


# What takes arguments of its own, and what scripts do not call by its name.
CALLS: dict[str, Call] = {
    "addmv": lambda a, b: torch.addmv(a[0], a, b[0]),
    "adaptive_avg_pool1d": lambda a, b: F.adaptive_avg_pool1d(a, 1),
    "alpha_dropout": lambda a, b: F.alpha_dropout(a, training=True),
    "avg_pool2d": lambda a, b: F.avg_pool2d(batched(a), 2),
    "baddbmm": lambda a, b: torch.baddbmm(a[None], b[None], a[None]),
    "batch_norm": lambda a, b: F.batch_norm(a, None, None, b[0], training=True),
    "bilinear": lambda a, b: F.bilinear(a, a, b[None].expand(2, 4, 4)),
    "bmm": lambda a, b: torch.bmm(a[None], b[None]),
    "cat": lambda a, b: torch.cat([a, b]),
    "cholesky": lambda a, b: torch.linalg.cholesky(a @ a.T + torch.eye(4)),
    "column_stack": lambda a, b: torch.column_stack([a, b]),
    "concat": lambda a, b: torch.concat([a, b]),
    "concatenate": lambda a, b: torch.concatenate([a, b]),
    "conv1d": lambda a, b: F.conv1d(a[None], b[None]),
    "conv2d": lambda a, b: F.conv2d(batched(a), batched(b)),
    "conv3d": lambda a, b: F.conv3d(batched(a)[None], batched(b)[None]),
    "conv_transpose2d": lambda a, b: F.conv_transpose2d(batched(a), batched(b)),
    "cosine_embedding_loss": lambda a, b: F.cosine_embedding_loss(a, b, torch.ones(4)),
    "cross": lambda a, b: torch.linalg.cross(a[:, :3], b[:, :3]),
    "ctc_loss": lambda a, b: F.ctc_loss(
        a[:, None], INDEX[None, 1:3], torch.tensor([4]), torch.tensor([2])
    ),
    "dot": lambda a, b: torch.dot(a[0], b[0]),
    "dstack": lambda a, b: torch.dstack([a, b]),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "embedding_bag": lambda a, b: F.embedding_bag(GRID, a),
    "fft": lambda a, b: torch.view_as_real(torch.fft.fft(a)),
    "fold": lambda a, b: F.fold(a, 4, 2, stride=2),
    "ger": lambda a, b: torch.ger(a[0], b[0]),
    "grid_sample": lambda a, b: F.grid_sample(
        batched(a), torch.zeros(1, 2, 2, 2, dtype=a.dtype), align_corners=False
    ),
    "gru": lambda a, b: recurrent(nn.GRU, a),
    "hstack": lambda a, b: torch.hstack([a, b]),
    "identity": lambda a, b: nn.Identity()(a),
    "imag": lambda a, b: a.to(torch.complex128).imag,
    "ifft": lambda a, b: torch.view_as_real(torch.fft.ifft(a).resolve_conj()),
    "index": lambda a, b: a[INDEX],
    "index_put": lambda a, b: a.index_put((INDEX,), b),
    "instance_norm": lambda a, b: F.instance_norm(a[None]),
    "interpolate": lambda a, b: F.interpolate(batched(a), scale_factor=2),
    "linalg_norm": lambda a, b: torch.linalg.norm(a),
    "lstm": lambda a, b: recurrent(nn.LSTM, a),
    "max_pool2d": lambda a, b: F.max_pool2d(batched(a), 2),
    "max_pool3d": lambda a, b: F.max_pool3d(batched(a).expand(1, 2, 4, 4), 2),
    "meshgrid": lambda a, b: torch.meshgrid(a[0], b[0], indexing="ij"),
    "multi_head_attention_forward": lambda a, b: attention(a),
    "mv": lambda a, b: torch.mv(a, b[0]),
    "outer": lambda a, b: torch.outer(a[0], b[0]),
    "pixel_shuffle": lambda a, b: F.pixel_shuffle(a.reshape(1, 4, 2, 2), 2),
    "pow": lambda a, b: a.pow(2),
    "prelu": lambda a, b: F.prelu(a, b[0, :1]),
    "qr": lambda a, b: torch.linalg.qr(a),
    "rnn": lambda a, b: recurrent(nn.RNN, a),
    "slice": lambda a, b: a[1:],
    "stack": lambda a, b: torch.stack([a, b]),
    "type": lambda a, b: a.type(torch.float32),
    "unflatten": lambda a, b: torch.unflatten(a, 0, (2, 2)),
    "upsample": lambda a, b: F.interpolate(batched(a), size=8),
    "vstack": lambda a, b: torch.vstack([a, b]),
}


def inputs() -> tuple[Tensor, Tensor]:
    """Two tensors with a history, strictly between 0 and 1."""
    made = torch.rand(2, 4, 4, dtype=torch.float64, requires_grad=True)
    first, second = (0.8 * made + 0.1).unbind()
    return first.clone(), second.clone()


def result_of(called: Any) -> Tensor | None:
    value = called[0] if isinstance(called, tuple | list) else called
    return value if isinstance(value, Tensor) and value.requires_grad else None


def calls_of(name: str) -> list[Call]:
    """Every way to call the operation that may do."""
    if name in CALLS:
        return [CALLS[name]]
    found: list[Call] = []
    for space in SPACES:
        known = getattr(space, name, None)
        if callable(known):
            found += [partial(with_arguments, known, more) for more in ARGUMENTS]
        elif known is not None:
            found.append(lambda a, b: getattr(a, name))
    return found


def with_arguments(function: Any, more: tuple[Any, ...], a: Tensor, b: Tensor) -> Any:
    return function(a, *(b if value is ... else value for value in more))


def call_of(name: str) -> Call:
    """The first way that gives a tensor with a history, of which something is left."""
    for call in calls_of(name):
        try:
            with warnings.catch_warnings(action="ignore"):
                result = result_of(call(*inputs()))
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            continue
        if result is not None and result.numel():
            return call
    raise AssertionError(f"torch {torch.__version__} has no {name} that takes a matrix")


def raises_once(name: str, *, changing: str = "") -> bool:
    """Whether a walk behind a change, or a second walk, finds what it needs gone; any other error
    is raised on."""
    call = call_of(name)
    a, b = inputs()
    with warnings.catch_warnings(action="ignore"):
        result = result_of(call(a, b))
    assert result is not None
    with torch.no_grad():
        for tensor in {"inputs": (a, b), "result": (result,)}.get(changing, ()):
            tensor.add_(0.0)
    try:
        torch.autograd.backward(result.sum(), retain_graph=bool(changing), inputs=[a, b])
        if not changing:
            torch.autograd.backward(result.sum(), inputs=[a, b])
    except RuntimeError as error:
        if ("inplace operation" if changing else "a second time") not in str(error):
            raise
        return True
    return False


def known(**facts: bool) -> list[str]:
    return sorted(
        name
        for name, op in ops._OPS.items()
        if name not in NOT_TRIED and all(getattr(op, f) == value for f, value in facts.items())
    )


@pytest.mark.parametrize("name", known())
def test_an_operation_saves_something_or_nothing_as_said(name: str) -> None:
    assert raises_once(name) == ops.op(name).saves


@pytest.mark.parametrize("name", sorted({*known(inputs=True), *known(result=True)}))
def test_an_operation_keeps_what_it_is_said_to_keep(name: str) -> None:
    assert raises_once(name, changing="inputs") == ops.op(name).inputs
    assert raises_once(name, changing="result") == ops.op(name).result


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
