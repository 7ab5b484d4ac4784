"""What a text does with values that it does not define, found without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .methods import fits
from .paths import Paths
from .uses import NUMERIC, OF_TWO, ValueUse, last_name, root, with_any_item

TURNS = 32  # of a loop, at most, that are gone through twice


class Uses(Paths, ast.NodeVisitor):
    """Collects uses by path over a whole text."""

    cycle = 1  # after so many iterations the script calls backward, or steps
    _sizes = False  # within a call whose arguments are sizes

    def known(self, path: str) -> ValueUse:
        """Return the script's use of a path's value: with this item of something, or any of its
        items."""
        return (
            next((self.of[one] for one in with_any_item(path) if one in self.of), None)
            or ValueUse()
        )

    def visit_Call(self, node: ast.Call) -> None:
        outside, self._sizes = self._sizes, last_name(node.func) in NUMERIC - OF_TWO
        self.generic_visit(node)
        self._sizes = outside
        if last_name(node.func) in OF_TWO and len(node.args) == 1:
            if isinstance(node.args[0], ast.Starred) and (use := self.use(node.args[0].value)):
                use.parts = use.parts or 2
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if (use := self.use(node.func)) is not None:
            use.called.append(node)
        if isinstance(node.func, ast.Attribute):
            if (holder := self.use(node.func.value)) is not None:
                holder.methods.add(node.func.attr if fits(node) else f"{node.func.attr}(…)")
        self._hand_over(node)
        name = last_name(node.func)
        if name == "DataLoader":  # goes over what it is given
            named = [k.value for k in node.keywords if k.arg == "dataset"]
            for dataset in filter(None, map(self.use, [*node.args[:1], *named])):
                dataset.iterated = True
        if name == "range" and node.args:
            if (ends := self.use(_less(node.args[:2][-1]))) is not None:
                ends.counted = True
        layer = isinstance(node.func, ast.Attribute) and root(node.func) == "nn"
        sized = name in NUMERIC or (layer and name[:1].isupper())
        for argument in given:
            for part in _terms(argument) if sized else ():
                if (found := self.use(part)) is not None:
                    found.number = True
            found = self.use(argument)
            if found is None:
                continue
            found.given_to |= {name, *_loading(node.func)}
            if sized:
                found.number = True
            elif name not in ("print", "len", "enumerate", "iter", "zip", "isinstance", "str"):
                found.data = True
        for keyword in node.keywords:
            if (found := self.use(keyword.value)) is None:
                continue
            if keyword.arg is None:
                found.mapping = True
            else:
                found.keywords.add(keyword.arg.lower())
            found.number |= keyword.arg in ("lr", "dim", "size")
            found.device |= keyword.arg == "device"
        if name == "to" and len(given) == 1 and (found := self.use(given[0])):
            found.device = True

    def visit_Starred(self, node: ast.Starred) -> None:
        self.generic_visit(node)
        if self._sizes and (use := self.use(node.value)) is not None:
            use.sizes = True

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        if (use := self.use(node.value)) is not None:
            use.asked.add(node.attr)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        if (use := self.use(node.value)) is not None:
            use.indexed = True
            match node.slice:
                case ast.Constant(value=int(place)) if not isinstance(node.slice.value, bool):
                    use.places.add(place)
                case ast.Tuple(elts=places):
                    sliced = any(isinstance(place, ast.Slice) for place in places)
                    chosen = sliced and isinstance(places[-1], ast.Name)
                    use.axes = max(use.axes, len(places) + chosen)
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                use.keys.add(node.slice.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and (use := self.use(node.left)) is not None:
            use.cycled = True
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if (use := self.use(one)) is not None:
                plain = isinstance(other, ast.Constant) or isinstance(node.op, ast.Mod)
                use.number |= plain
                use.data |= not plain
                use.multiplied |= isinstance(node.op, ast.MatMult) and one is node.right
                use.factor |= isinstance(node.op, ast.Mult | ast.Div)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if (use := self.use(node.value)) is not None:
            use.data = True
        if (use := self.use(node.target)) is not None:
            use.summed = True

    def visit_Compare(self, node: ast.Compare) -> None:
        self.generic_visit(node)
        for one in (node.left, *node.comparators):
            if (use := self.use(one)) is not None:
                use.number = True

    def visit_If(self, node: ast.If) -> None:
        if (use := self.use(node.test)) is not None:
            use.tested = True
        called = {last_name(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
        for part in ast.walk(node.test) if called & {"backward", "step"} else ():
            match part:
                case ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int(turns))):
                    self.cycle = max(self.cycle, turns if turns <= TURNS else 1)
        self.generic_visit(node)


def _loading(function: ast.expr) -> Iterator[str]:
    """Yield whose `load` a function is: `torch.load` takes a path, `pickle.load` an open file."""
    match function:
        case ast.Attribute(value=ast.Name(id=owner), attr="load"):
            yield f"{owner}.load"


def _terms(size: ast.expr) -> Iterator[ast.expr]:
    """Yield what a size is computed from: `n` and `hops` of `n * (hops + 1)`."""
    if isinstance(size, ast.BinOp):
        for part in (size.left, size.right):
            yield part
            yield from _terms(part)


def _less(end: ast.expr) -> ast.expr:
    """Return what something is subtracted from: `n` of `n - part`; else the expression itself."""
    return _less(end.left) if isinstance(end, ast.BinOp) else end
