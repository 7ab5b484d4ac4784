"""What is known of torch's operations by their names.

What a node saves for its backward, which results are views, and which layers have no parameters
was measured with the installed torch and is read from `operators.json` (`python -m tests.operators`
renews it). A node that saves nothing can run backward any number of times; one that saves something
raises on a second use.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Op:
    """What an operation's node saves.

    `saves`: yes, no, or None for unknown. `inputs`, `result`: which tensors are kept, where every
    form of the call keeps them. `bilinear`: an input only where another one needs a gradient.
    `selects`: the result is made of entries of the inputs.
    """

    saves: bool | None
    inputs: bool = False
    result: bool = False
    bilinear: bool = False
    selects: bool = False


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


UNKNOWN = Op(saves=None)
_FACTS = json.loads(Path(__file__).with_name("operators.json").read_text())
# Not measurable by calls on a matrix: attributes, devices, types, writes, other processes.
_SAVE_NOTHING = words("T H cuda xpu double float half bfloat16 copy fill zero all_reduce")


def _operations() -> dict[str, Op]:
    facts = ("something", "inputs", "result", "bilinear", "selects")
    measured = {
        name: Op(*(fact in kept.split() for fact in facts))
        for name, kept in _FACTS["saved"].items()
    }
    return measured | dict.fromkeys(_SAVE_NOTHING, Op(saves=False))


_OPS = _operations()

# Results without a graph, whatever goes in.
NO_GRAPH = words(
    """
    argmax argmin argsort eq ne lt le gt ge isnan isinf isfinite is_nonzero equal allclose all
    any size dim numel nelement ndimension stride storage_offset data_ptr element_size
    is_contiguous zeros_like ones_like rand_like randn_like empty_like full_like
    randint_like bernoulli multinomial nonzero count_nonzero bincount histc searchsorted
    bucketize one_hot logical_and logical_or logical_not logical_xor isclose signbit
    long int short byte bool char new_zeros new_ones new_full new_empty new_tensor
    get_device is_floating_point argwhere numpy_version
    """
)

# Those among them whose results are indices, which scripts compute with as if they were values.
INDICES = frozenset({"argmax", "argmin", "argsort"})

# Tensors that are made of sizes, numbers or data.
FACTORIES = words(
    """
    zeros ones empty full rand randn randint arange linspace eye randperm normal tensor
    as_tensor from_numpy zeros_like ones_like rand_like randn_like empty_like full_like
    FloatTensor Tensor LongTensor scalar_tensor logspace multinomial bernoulli
    DoubleTensor sparse_coo_tensor Variable
    """
)

# Distributions that cannot be sampled with a gradient; most have nothing between two values.
NO_RSAMPLE = words(
    """
    Bernoulli Binomial Categorical Geometric LKJCholesky MixtureSameFamily Multinomial
    NegativeBinomial OneHotCategorical Poisson VonMises
    """
)

# Methods whose result shares its tensor's memory, and those of them that return several results.
MULTI_VIEWS = frozenset(_FACTS["views"]["several"])
VIEWS = frozenset(_FACTS["views"]["one"]) | MULTI_VIEWS | {"T", "H"}

# Reductions that yield a scalar when no dimension is named.
REDUCTIONS = words(
    """
    sum mean prod max min norm std var median logsumexp amax amin nanmean trace dot dist
    """
)
# The operations of layers that have no parameters, losses included, by the names of the classes.
LOSSES = frozenset(_FACTS["weightless"]["losses"].values())
WEIGHTLESS: dict[str, str] = _FACTS["weightless"]["layers"] | _FACTS["weightless"]["losses"]
CONTAINERS = frozenset(_FACTS["weightless"]["containers"])


@lru_cache(maxsize=4096)
def op(name: str) -> Op:
    """Return what the named operation saves; `add_` saves what `add` does."""
    known = _OPS.get(name)
    if known is None and name.endswith("_"):
        known = _OPS.get(name[:-1])
    return known or UNKNOWN
