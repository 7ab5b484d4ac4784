"""Shapes, as far as a script spells them out: enough to tell a vector of losses from a loss.

A size that is not known is None; a shape of which not even the number of dimensions is known, too.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Options
from collections.abc import Sequence as Seq

from analyzers.reading.values import AbstractTensor, AbstractValue, Const, Sequence, Shape
from analyzers.source import ops

_LIKE_FIRST = ops.words(
    """
    relu tanh sigmoid exp log log1p log2 sin cos sqrt rsqrt square abs neg gelu silu elu leaky_relu
    hardtanh softplus logsigmoid softmax log_softmax dropout clone contiguous clamp round floor ceil
    float double half to cpu cuda layer_norm normalize erf reciprocal zeros_like ones_like rand_like
    randn_like empty_like full_like identity
    """
)
_OF_BOTH = frozenset({"add", "sub", "mul", "div", "pow", "true_divide"})
_REDUCING = frozenset({"sum", "mean", "nanmean", "prod", "logsumexp", "amax", "amin"})
_SIZED = frozenset({"zeros", "ones", "empty", "rand", "randn"})


def is_several(shape: Shape | None) -> bool:
    """Return True if a tensor of this shape surely has more than one element."""
    return bool(shape) and any(size is not None and size > 1 for size in shape or ())


def give(tensor: AbstractTensor, shape: Shape | None) -> None:
    """Tell a tensor its shape."""
    tensor.shape = shape
    if shape and tensor.scalar is None and is_several(shape):
        tensor.scalar = False


def made(
    name: str, args: list[AbstractValue], options: Options[str, AbstractValue]
) -> Shape | None:
    """Return the shape of a factory's result, or None."""
    if name in _LIKE_FIRST:
        return of(args[0]) if args else None
    if name == "tensor" and args:
        return _listed(args[0])
    if name in _SIZED:
        sizes = args[0].items if args and isinstance(args[0], Sequence) else args
        return tuple(_whole(size) for size in sizes) if sizes else None
    if name in ("full", "randint"):
        given = next((a for a in args if isinstance(a, Sequence)), options.get("size"))
        return tuple(_whole(size) for size in given.items) if isinstance(given, Sequence) else None
    if name == "linspace" and len(args) > 2:
        return (_whole(args[2]),)
    return None


def of(value: AbstractValue) -> Shape | None:
    """Return the shape of a value; `()` for a number, None if it is not known."""
    if isinstance(value, AbstractTensor):
        return value.shape
    return () if isinstance(value, Const) and isinstance(value.value, int | float) else None


def result(name: str, values: list[AbstractValue]) -> Shape | None:
    """Return the shape of an operation's result for these operands and arguments, or None."""
    if not values:
        return None
    first = of(values[0])
    if name in _LIKE_FIRST:
        return first
    if name in _OF_BOTH:
        return _broadcast(first, of(values[1])) if len(values) == 2 else None
    rule = _RULES.get(name)
    return rule(values) if rule is not None else None


def reduced(
    name: str, tensor: AbstractValue, args: Seq[AbstractValue], options: Options[str, AbstractValue]
) -> Shape | None:
    """Return the shape that a reduction along one dimension, or all, leaves; None if not known."""
    if name not in _REDUCING:
        return None
    keep = options.get("keepdim", args[1] if len(args) > 1 else Const(False))
    along = options.get("dim", args[0] if args else Const(None))
    shape = of(tensor)
    if not isinstance(along, Const) or not isinstance(keep, Const):
        return None
    if along.value is None:
        return ()
    position = _position(shape, along)
    if shape is None or position is None:
        return None
    return (*shape[:position], *([1] if keep.value else []), *shape[position + 1 :])


def linear(value: AbstractValue, features: AbstractValue) -> Shape | None:
    """Return the shape of a linear layer's result with so many output features, or None."""
    shape = of(value)
    return (*shape[:-1], _whole(features)) if shape else None


def _whole(value: AbstractValue) -> int | None:
    known = isinstance(value, Const) and isinstance(value.value, int)
    return value.value if known else None  # type: ignore[attr-defined]


def _listed(value: AbstractValue) -> Shape | None:
    """Return the shape of nested lists of numbers, or None."""
    if isinstance(value, Sequence):
        inner = _listed(value.items[0]) if value.items and not value.open else None
        return (len(value.items), *inner) if inner is not None else None
    return of(value)


def _position(shape: Shape | None, dimension: AbstractValue) -> int | None:
    """Return a dimension's index counted from the front, or None."""
    at = _whole(dimension)
    if shape is None or at is None or not -len(shape) <= at < len(shape):
        return None
    return at % len(shape)


def _broadcast(one: Shape | None, other: Shape | None) -> Shape | None:
    if one is None or other is None:
        return None
    rank = max(len(one), len(other))
    pairs = zip(_filled(one, rank), _filled(other, rank), strict=True)
    return tuple(b if a == 1 else a if b == 1 or a is not None else b for a, b in pairs)


def _filled(shape: Shape, rank: int) -> Shape:
    return (*[1] * (rank - len(shape)), *shape)


def _matmul(values: list[AbstractValue]) -> Shape | None:
    if len(values) != 2:
        return None
    left, right = of(values[0]), of(values[1])
    if not left or not right or len(right) > 2:
        return None
    return (*left[:-1], *right[1:])


def _cat(values: list[AbstractValue]) -> Shape | None:
    joined = _alike(values[0])
    position = _position(joined[0], values[1] if len(values) > 1 else Const(0)) if joined else None
    if position is None:
        return None
    sizes = [shape[position] for shape in joined]
    whole = None if None in sizes else sum(size for size in sizes if size is not None)
    return (*joined[0][:position], whole, *joined[0][position + 1 :])


def _stack(values: list[AbstractValue]) -> Shape | None:
    joined = _alike(values[0])
    at = _whole(values[1]) if len(values) > 1 else 0
    if not joined or at is None or not 0 <= at <= len(joined[0]):
        return None
    return (*joined[0][:at], len(joined), *joined[0][at:])


def _alike(value: AbstractValue) -> list[Shape]:
    """Return the shapes of a list's tensors, if all are known and have as many dimensions."""
    if not isinstance(value, Sequence) or value.open:
        return []
    shapes = [shape for item in value.items if (shape := of(item)) is not None]
    same = len(shapes) == len(value.items) and len({len(shape) for shape in shapes}) == 1
    return shapes if same else []


def _transposed(values: list[AbstractValue]) -> Shape | None:
    shape = of(values[0])
    return shape[::-1] if shape is not None and len(shape) <= 2 else None


_RULES: dict[str, Callable[[list[AbstractValue]], Shape | None]] = {
    "matmul": _matmul,
    "mm": _matmul,
    "mv": _matmul,
    "cat": _cat,
    "concat": _cat,
    "stack": _stack,
    "t": _transposed,
    "T": _transposed,
}
