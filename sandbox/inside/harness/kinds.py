"""From Python's complaint about a synthesized value to what it should have been."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from . import roles
from .names import usual
from .plan import ValuePlan
from .reading import Uses
from .trial import HarnessTrial

_MADE_AS = {  # the kinds of values, by the name of the type that Python complains of
    "Model": {"module"},
    "Criterion": {"criterion"},
    "Function": {"function"},
    "Maker": {"maker"},
    "int": {"number", "count"},
    "float": {"number", "zero"},
    "bool": {"flag"},
    "list": {"list", "weights", "batches"},  # some of the last are a list
    "Batches": {"batches"},
    "tuple": {"tensor", "holder"},
    "Tensor": {"tensor"},
    "Placeholder": {"holder"},
    "0-dim": {"loss"},
    "Optimizer": {"optimizer"},
    "device": {"device"},
}
_COMPLAINTS: tuple[
    tuple[str, str], ...
] = (  # the first group is the type, of a tensor's without one; then the kind wanted
    (r"'(\w+)' object is not (?:iterable|an iterator|reversible)", "batches"),
    (r"can only concatenate list \(not \"(\w+)\"\) to list", "batches"),
    (r"'(\w+)' object is not callable", "function"),
    (r"must be Tensor, not (\w+)", "tensor"),
    (r"Variable data has to be a tensor, but got (\w+)", "tensor"),
    (r"expected Tensor as element \d+ in argument \d+, but got (\w+)", "tensor"),
    (r"invalid combination of arguments - got \((Model|Function|Maker|Criterion|list)\b", "tensor"),
    (r"'(\w+)' object is not subscriptable", "tensor"),
    (r"'(\w+)' object cannot be interpreted as an integer", "count"),
    (
        r"not supported between instances of '(list|Batches|Model|Function|Maker|Placeholder)'",
        "number",
    ),
    (
        r"not supported between instances of '\w+' and '(list|Batches|Model|Function|Maker)'",
        "number",
    ),
    (r"unsupported operand type.*'(Model|Function|Maker|Criterion|list|Batches)'", "tensor"),
    (r"'(Tensor|int|float|bool|list)' object has no attribute", "holder"),
    (r"'(\w+)' object does not support the context manager", "holder"),
    (r"'(\w+)' object does not support item assignment", "tensor"),
    (r"'(\w+)' object is not a mapping", "holder"),
    (r"must be (?:int|tuple of ints|a number|real number).*not (\w+)", "count"),
    (r"tuple of ints, ?but (?:got|found element of type) (\w+)", "count"),
    (r"()integer tensors of a single element", "count"),
    (
        r"()(?:reshape|view|expand|zeros|ones|empty|randn?)\(\) takes 1 positional argument but",
        "count",
    ),
    (r"invalid index of a (0-dim) tensor", "tensor"),
    (r"()invalid data type 'str'", "holder"),  # an index of words
    (r"invalid combination of arguments - got \([^()]{0,200}?\b(Tensor)\b", "count"),
    (r"given to the optimizer.*got torch\.Float(Tensor)", "weights"),
    (r"object of type '(\w+)' has no len", "batches"),
    (r"expected str, bytes or os\.PathLike object, not (\w+)", "file"),
    (r"expected file, str, or pathlib\.Path", "file"),
)


def of_another_kind(
    plan: ValuePlan, uses: Uses, trial: HarnessTrial, said: str
) -> Iterator[ValuePlan]:
    """Yield the plan with one value of the failing statement made as what Python asks for.

    The value is in the statement, else one that its names hold which was synthesized for another
    place; else one that a caller's statement passes.
    """
    paths = dict.fromkeys([*_at(uses, trial.lines), *trial.held])
    paths |= dict.fromkeys(path for lines in trial.callers for path in _at(uses, lines))
    for path, kind in _wishes(plan, uses, list(paths), said):
        if path not in plan.kinds:
            yield plan.with_kind(path, kind)


def _at(uses: Uses, lines: tuple[int, int]) -> Iterator[str]:
    """Yield the paths of a statement, unless that is very long."""
    for line in range(lines[0], min(lines[1], lines[0] + 20) + 1):
        yield from uses.at.get(line, ())


def _wishes(
    plan: ValuePlan, uses: Uses, paths: Sequence[str], said: str
) -> Iterator[tuple[str, str]]:
    for complaint, kind in _COMPLAINTS:
        found = re.search(complaint, said)
        if found is None:
            continue
        made_as = _MADE_AS.get(found[1] or "Tensor", set())
        if (asked := re.search(r"no attribute '(\w+)'", said)) and roles.has_tensor(asked[1]):
            kind = "tensor"
        for path in _with_items(paths, uses, plan):
            if roles.role(path, uses, plan) in made_as and kind not in made_as:
                yield path, "holder" if kind == "tensor" and _has_holders(path, uses) else kind


def _has_holders(path: str, uses: Uses) -> bool:
    """Return True if the script asks the items of a value for what no tensor has."""
    items = (use for other, use in uses.of.items() if other.startswith(f"{path}["))
    return any(roles.is_no_tensor(use) for use in items)


def _with_items(paths: Sequence[str], uses: Uses, plan: ValuePlan) -> Iterator[str]:
    """Yield the paths, and those of the items of batches among them.

    What is passed to another file is unpacked there.
    """
    for path in paths:
        if usual(path.partition(".")[0]):
            continue  # what torch gives is no guess
        yield path
        if roles.role(path, uses, plan) == "batches":
            yield f"{path}[]"
