"""What a text does with one value, and the words in which that is read."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SAME = frozenset(  # methods that give the value itself, moved or seen otherwise
    {
        *("cuda", "to", "cpu", "float", "double", "half", "long", "train", "eval", "type"),
        *("detach", "clone", "contiguous", "requires_grad_", "squeeze", "unsqueeze", "data"),
    }
)
WRAPPERS = frozenset(
    {
        "Variable",
        "tensor",
        "as_tensor",
        "from_numpy",
        "FloatTensor",
        "tqdm",
        "list",
        "DataLoader",
        "DataParallel",
        "DistributedDataParallel",
        "compile",
        "iter",
    }
)
BUILTIN = frozenset(dir(builtins))
_ITEM = r"\[[^\[\]]*\]"
NUMERIC = frozenset({"range", "zeros", "ones", "randn", "rand", "full", "empty", "min", "max"})
OF_TWO = frozenset({"min", "max", "minimum", "maximum"})  # of two tensors, if of several


@dataclass
class ValueUse:
    """What the text does with one value.

    `asked` are the attributes read from it, `methods` those that are called; `parts` are how many
    values a call or an unpacking wants of it, and `places` the numbers of items that it reads;
    `axes` are the dimensions that an index speaks of (`x[:, t]` leaves one more); `multiplied`:
    it is the matrix of a product; `device`: something is moved to it; `begins`: a range does;
    `sizes`: `*x` stands among those of a new tensor; `mapping`: a call gets `**x`; `key`: a
    dictionary is made with it as a key; `counted`: a range ends there; `cycled`: only every so
    many of them count. `names` are those that the text binds to it, `keywords` those under which
    calls get it.
    """

    called: list[ast.Call] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    parts: int = 0
    places: set[int] = field(default_factory=set)
    axes: int = 0
    device: bool = False
    begins: bool = False
    sizes: bool = False
    mapping: bool = False
    key: bool = False
    counted: bool = False
    cycled: bool = False
    multiplied: bool = False
    iterated: bool = False
    indexed: bool = False
    number: bool = False
    data: bool = False
    tested: bool = False
    base: bool = False
    context: bool = False
    summed: bool = False
    factor: bool = False
    given_to: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        """Return how many values it is unpacked into; 0 for one.

        Items 0, 1 … count if nothing else is asked of it.
        """
        items = len(self.places)
        if not self.parts and items > 1 and self.places == set(range(items)) and not self.axes:
            return items
        return self.parts


def item(key: ast.expr) -> str:
    """Return how a path goes on for an index: by a constant, else as any item."""
    if isinstance(key, ast.Constant) and isinstance(key.value, str | int):
        return f"[{key.value!r}]"
    return "[]"


def with_any_item(path: str) -> Iterator[str]:
    """Yield the path; then the same with any item for its last one, and for all of them."""
    yield path
    if "[" in path:
        yield re.sub(rf"{_ITEM}\Z", "[]", path)
        yield re.sub(_ITEM, "[]", path)


def last_name(node: ast.expr) -> str:
    """Return the last name of a path: `relu` of `F.relu`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")


def bound(body: list[ast.stmt]) -> set[str]:
    """Return the names that statements bind in their own scope."""
    return {name for statement in body for name in names_of(statement)}


def names_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    if isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    for child in ast.iter_child_nodes(node):
        yield from names_of(child)
