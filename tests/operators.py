"""Measure what each operation of the installed torch saves, and which results share memory.

    python -m tests.operators     writes analyzers/source/operators.json

The analyzers import no torch, so they read these facts from that file.
`tests/unit/test_operators.py` measures them again and compares.

- What a node saves is observed: the operation is called on two matrices with a history in every
  form of `ARGUMENTS` that it accepts, and backward runs twice, or after a write to one tensor.
- Which results are views is declared: the alias annotations of torch's operator schemas.
- Which layers have no parameters is observed (`tests/torch_facts.py`).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from analyzers.source import ops
from tests.torch_facts import selects, weightless

FILE = Path(ops.__file__).with_name("operators.json")
F = nn.functional
F_NAMES = frozenset(n for n in dir(F) if n[0].islower() and not n.startswith(("boolean", "has_")))
Tensor = torch.Tensor
Call = Callable[[Tensor, Tensor], Any]

SPACES: list[Any] = [torch.Tensor, torch, F, torch.linalg, torch.fft]
INDEX = torch.arange(4)
GRID = torch.zeros(4, 4, dtype=torch.long)
MASK = torch.eye(4) > 0
# Arguments after the first; `...` is the other tensor. The first form that works is the one used.
ARGUMENTS: list[tuple[Any, ...]] = [
    *[(), (...,), (..., ...), (..., 0.3)],
    *[(0,), (1,), (2,), (-1,), (0, 1), (0, 2), (0, 1, 2), (0, 0, 2), ((4, 4),), ((1, 1),)],
    *[(INDEX,), (0, INDEX), (0, GRID), (MASK,), (MASK, 0.0), (0, INDEX, ...), (0, GRID, ...)],
]
PREFIXES = ("linalg_", "fft_", "special_")
# Views by their schema that are another tensor on another device, in another type, or sparse.
COPIES_AT_TIMES = frozenset(
    {"to", "cpu", "cuda", "contiguous", "as_tensor", "pin_memory", "coalesce", "lift_fresh"}
    | {"indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"}
    | {"slice_inverse"}
)


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
    "meshgrid": lambda a, b: torch.meshgrid(a[0], b[0], indexing="ij")[0].clone(),
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
    """Return two 4×4 tensors with a history, with entries strictly between 0 and 1."""
    made = torch.rand(2, 4, 4, dtype=torch.float64, requires_grad=True)
    first, second = (0.8 * made + 0.1).unbind()
    return first.clone(), second.clone()


def result_of(called: Any) -> Tensor | None:
    """Return the first tensor of a result if it has a history."""
    value = called[0] if isinstance(called, tuple | list) else called
    return value if isinstance(value, Tensor) and value.requires_grad else None


def calls_of(name: str) -> Iterator[list[Call]]:
    """Yield the ways to call the operation that may be accepted, one list for each space."""
    if name in CALLS:
        yield [CALLS[name]]
        return
    for space in SPACES:
        known = getattr(space, name, None)
        if callable(known):
            yield [partial(with_arguments, known, more) for more in ARGUMENTS]
        elif known is not None:
            yield [lambda a, b: getattr(a, name)]


def with_arguments(function: Any, more: tuple[Any, ...], a: Tensor, b: Tensor) -> Any:
    return function(a, *(b if value is ... else value for value in more))


def with_constant(call: Call, a: Tensor, b: Tensor) -> Any:
    """Call an operation with a second tensor that needs no gradient."""
    return call(a, b.detach())


def accepted(name: str) -> list[Call]:
    """Return the ways to call the operation that write to no input and give a differentiable,
    non-empty tensor; all in the first of `SPACES` that has one."""
    found = (list(filter(is_accepted, calls)) for calls in calls_of(name))
    return next(filter(None, found), [])


def is_accepted(call: Call) -> bool:
    """Return True if a call writes to no input and gives a differentiable, non-empty tensor."""
    a, b = inputs()
    try:
        result = result_of(call(a, b))
        written = bool(a._version or b._version)
        return result is not None and not written and result.numel() > 0 and reaches(result, a)
    except Exception:  # any: the name may be no operation at all, or want other arguments
        return False


def raises(call: Call, changed: str = "") -> bool | None:
    """Return True if backward finds a saved tensor changed, or freed where nothing was changed.

    `changed` is empty or one of `first`, `second`, `result`. None: the call has no such tensor.
    """
    a, b = inputs()
    result = result_of(call(a, b))
    assert result is not None
    if changed == "second" and not reaches(result, b):
        return None
    with torch.no_grad():
        for tensor in {"first": (a,), "second": (b,), "result": (result,)}.get(changed, ()):
            tensor.add_(0.0)
    try:
        torch.autograd.backward(result.sum(), retain_graph=bool(changed), inputs=[a, b])
        if not changed:
            torch.autograd.backward(result.sum(), inputs=[a, b])
    except RuntimeError as error:
        if ("inplace operation" if changed else "a second time") not in str(error):
            raise
        return True
    return False


def reaches(result: Tensor, tensor: Tensor) -> bool:
    """Return True if the gradient of a result arrives at a tensor."""
    (gradient,) = torch.autograd.grad(result.sum(), [tensor], retain_graph=True, allow_unused=True)
    return gradient is not None


def saved(name: str) -> list[str] | None:
    """Return what the operation's node saves; None if no form of it was accepted.

    `something`: the first accepted form saves a tensor. `inputs`, `result`: every accepted form
    saves every input, or the result; of an operation that takes two tensors, every form with two.
    `bilinear`: an input is saved only where another needs a gradient, or is no number. `selects`:
    the result is made of entries of the inputs.
    """
    calls = accepted(name)
    if not calls:
        return None
    if not raises(calls[0]):
        return []
    of_two = [call for call in calls if raises(call, "second") is not None]
    facts = ["something"]
    if all(raises(c, "first") and raises(c, "second") is not False for c in of_two or calls):
        facts.append("inputs")
        constant: list[Call] = [partial(with_constant, call) for call in of_two]
        alone = [call for call in calls if call not in of_two]
        if of_two and not all(raises(call, "first") for call in (*constant, *alone)):
            facts.append("bilinear")
    if all(raises(call, "result") for call in calls):
        facts.append("result")
    if selects(calls[0]):
        facts.append("selects")
    return facts


def names() -> list[str]:
    """Return the operations that scripts can call, by the last part of their name."""
    found = set(CALLS)
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        for prefix in PREFIXES:
            name = name.removeprefix(prefix)
        if space == "aten" and not name.startswith("_") and not name.endswith("_"):
            found.add(name)
    return sorted(name for name in found | F_NAMES if any(calls_of(name)))


def named(name: str) -> bool:
    """Return True if a script can write the operation: `x.name(…)`, `torch.name(…)`, or `x[…]`."""
    return name[0] != "_" and (name in ("select", "slice") or any(hasattr(s, name) for s in SPACES))


def views() -> dict[str, list[str]]:
    """Return the methods whose result is a view, and those that return several."""
    kinds: dict[str, set[str]] = {"one": set(), "several": set()}
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::").removeprefix("linalg_")
        owner = schema.arguments[0].alias_info if schema.arguments else None
        if owner is None or owner.is_write or name in COPIES_AT_TIMES or not named(name):
            continue
        for result in schema.returns:
            if result.alias_info is not None and str(result.type) in ("Tensor", "List[Tensor]"):
                kinds["one" if str(result.type) == "Tensor" else "several"].add(name)
    return {kind: sorted(found) for kind, found in kinds.items()}


def measured() -> dict[str, Any]:
    """Return all facts, as the file holds them."""
    with warnings.catch_warnings(action="ignore"), torch.random.fork_rng():
        torch.manual_seed(0)
        facts = {name: saved(name) for name in names()}
        layers = weightless()
    return {
        "torch": str(torch.__version__).partition("+")[0],
        "saved": {name: " ".join(kept) for name, kept in facts.items() if kept is not None},
        "views": views(),
        "weightless": layers,
    }


def main() -> None:
    """Write the facts of the installed torch."""
    FILE.write_text(json.dumps(measured(), indent=1) + "\n")


if __name__ == "__main__":
    main()
