"""SciPy where it is missing: sparse matrices held densely, filters, and a few distances."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from .nothing import Nothing, NothingModule

PROVIDES = ("scipy",)
SAYS = "not installed here: sparse matrices and a few functions have likenesses"
_PARTS = ("sparse", "stats", "io", "signal", "special", "linalg", "spatial", "optimize", "ndimage")


class Sparse:
    """A sparse matrix, held densely."""

    format = "csr"

    def __init__(self, given: Any = None, shape: Any = None, dtype: Any = None, **_: Any) -> None:
        if isinstance(given, Sparse):
            dense: Any = given.dense
        elif isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], tuple):
            rows, columns = (np.asarray(axis, int) for axis in given[1])
            size = shape or (int(rows.max()) + 1, int(columns.max()) + 1)
            dense = np.zeros(size, dtype or np.asarray(given[0]).dtype)
            np.add.at(dense, (rows, columns), np.asarray(given[0]))
        elif isinstance(given, tuple):
            dense = np.zeros(given, dtype or float)
        else:
            dense = np.atleast_2d(np.asarray(given, dtype))
        self.dense: Any = dense.astype(dtype) if dtype is not None else dense

    @property
    def shape(self) -> Any:
        return self.dense.shape

    @property
    def row(self) -> Any:
        return self.dense.nonzero()[0].astype(np.int32)

    @property
    def col(self) -> Any:
        return self.dense.nonzero()[1].astype(np.int32)

    @property
    def data(self) -> Any:
        return self.dense[self.dense.nonzero()]

    @property
    def nnz(self) -> int:
        return int(np.count_nonzero(self.dense))

    @property
    def dtype(self) -> Any:
        return self.dense.dtype

    @property
    def T(self) -> Sparse:  # noqa: N802 (SciPy's name)
        return type(self)(self.dense.T)

    def nonzero(self) -> Any:
        return self.dense.nonzero()

    def toarray(self, *args: Any) -> Any:
        return self.dense

    todense = toarray

    def copy(self, *args: Any) -> Sparse:
        return Sparse(self.dense.copy())

    tocoo = tocsr = tocsc = tolil = todok = copy

    def transpose(self, *args: Any) -> Sparse:
        return self.T

    def astype(self, kind: Any) -> Sparse:
        return Sparse(self.dense.astype(kind))

    def sum(self, axis: Any = None) -> Any:
        return (
            np.asmatrix(self.dense.sum(axis, keepdims=True))
            if axis is not None
            else self.dense.sum()
        )

    def diagonal(self) -> Any:
        return self.dense.diagonal()

    def setdiag(self, values: Any) -> None:
        np.fill_diagonal(self.dense, values)

    def eliminate_zeros(self) -> None:
        pass

    def dot(self, other: Any) -> Any:
        return _wrapped(self.dense @ _dense(other), other)

    def multiply(self, other: Any) -> Sparse:
        return Sparse(self.dense * _dense(other))

    def power(self, exponent: Any) -> Sparse:
        return Sparse(self.dense**exponent)

    __matmul__ = __mul__ = dot

    def __rmul__(self, factor: Any) -> Sparse:
        return Sparse(self.dense * factor)

    def __add__(self, other: Any) -> Sparse:
        return Sparse(self.dense + _dense(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Sparse:
        return Sparse(self.dense - _dense(other))

    def __truediv__(self, other: Any) -> Sparse:
        return Sparse(self.dense / _dense(other))

    def __gt__(self, other: Any) -> Sparse:
        return Sparse(self.dense > _dense(other))

    def __getitem__(self, key: Any) -> Any:
        found = self.dense[key]
        return Sparse(found) if np.ndim(found) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.dense[key] = _dense(value)


def _dense(value: Any) -> Any:
    return value.dense if isinstance(value, Sparse) else value


def _wrapped(dense: Any, other: Any) -> Any:
    return Sparse(dense) if isinstance(other, Sparse) else dense


def eye(rows: int, *args: Any, **kwargs: Any) -> Sparse:
    """Ones on the diagonal."""
    return Sparse(np.eye(rows))


def diags(values: Any, *args: Any, **kwargs: Any) -> Sparse:
    """These values on the diagonal."""
    return Sparse(np.diagflat(np.asarray(values)))


def random_sparse(rows: int, columns: int, density: float = 0.01, **kwargs: Any) -> Sparse:
    """Noise in some places."""
    values = np.random.default_rng(0).random((rows, columns))
    return Sparse(np.where(values < density, values, 0))


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, **kwargs: Any) -> Any:
    """A recursive filter of first order: how returns are discounted."""
    values = np.moveaxis(np.asarray(x, float), axis, 0)
    found = np.zeros_like(values)
    back = -a[1] / a[0] if len(a) > 1 else 0.0
    carried = np.zeros_like(values[0]) if len(values) else 0.0
    for n, value in enumerate(values):
        carried = b[0] / a[0] * value + back * carried
        found[n] = carried
    return np.moveaxis(found, 0, axis)


def correlation(x: Any, y: Any, *args: Any, **kwargs: Any) -> tuple[float, float]:
    """A correlation, and how likely it is by chance."""
    return float(np.corrcoef(np.ravel(x), np.ravel(y))[0, 1]), 0.5


class Normal(Nothing):
    """`scipy.stats.norm`."""

    def pdf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return np.exp(-(((x - loc) / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))

    def cdf(self, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return np.vectorize(lambda z: (1 + math.erf(z / math.sqrt(2))) / 2)((x - loc) / scale)

    def rvs(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, **kwargs: Any) -> Any:
        return np.random.default_rng(0).normal(loc, scale, size)


def cdist(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    """Distances of every row to every row."""
    return np.linalg.norm(np.asarray(a)[:, None] - np.asarray(b)[None], axis=-1)


def assigned(cost: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """An assignment of rows to columns: each in its own."""
    count = min(np.shape(cost))
    return np.arange(count), np.arange(count)


def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials that add up to one."""
    raised = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


def module(name: str) -> ModuleType:
    """`scipy`, or a part of it."""
    part = name.partition(".")[2].partition(".")[0]
    kinds = [
        f"{kind}_{what}"
        for kind in ("csr", "coo", "csc", "lil", "dok", "bsr")
        for what in ("matrix", "array")
    ]
    named: dict[str, dict[str, Any]] = {
        "sparse": {
            **dict.fromkeys(kinds, Sparse),
            "eye": eye,
            "identity": eye,
            "diags": diags,
            "random": random_sparse,
            "issparse": lambda value: isinstance(value, Sparse),
        },
        "signal": {"lfilter": lfilter},
        "stats": {"norm": Normal(), "pearsonr": correlation, "spearmanr": correlation},
        "spatial": {"cdist": cdist},
        "optimize": {"linear_sum_assignment": assigned},
        "special": {"softmax": softmax, "expit": lambda x: 1 / (1 + np.exp(-x))},
    }
    return NothingModule(name, () if part else _PARTS, **named.get(part, {}))
