"""Write a value of a known shape without its graph, as an expression or as statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from provenance import ValuePart, ValueShape

FEW = 4  # parts that are written out one by one


def has_graph(kind: ValueShape) -> bool:
    """Return True if the value is, or contains, a tensor with a graph."""
    return kind.graph or any(has_graph(part) for _, part in kind.items())


def part_at(kind: ValueShape, below: str) -> ValueShape | None:
    """Return what a path below a value (`['h'][0]`, `.state.c`) leads to; a part without a key
    describes every entry.
    """
    if not below:
        return kind
    for key, part in kind.items():
        step = _step(kind, key) if key or not below.startswith("[") else _first_entry(below)
        if below.startswith(step):
            return part_at(part, below.removeprefix(step))
    return None


def _step(kind: ValueShape, key: str) -> str:
    """Return the path step from a value to its part of this key."""
    return f".{field_name(key)}" if kind.kind in _FIELDED else f"[{key}]"


def _first_entry(path: str) -> str:
    return path[: path.find("]") + 1]


_FIELDED = ("namedtuple", "dataclass", "object", "module")


def field_name(key: str) -> str:
    """Return the field that a key names; the key is written as a Python string."""
    return key[1:-1] if len(key) > 2 and key[1:-1].isidentifier() else ""


def carried(kind: ValueShape, paths: Sequence[str]) -> ValueShape:
    """Return the shape without graphs in fields and entries that no path leads through, except
    entries of the same shape as one that a path leads through.
    """
    if kind.kind not in (*_FIELDED, "dict", "tuple", "list") or not has_graph(kind):
        return kind
    parts_below = [(key, part, _below(kind, key, paths)) for key, part in kind.items()]
    alike = {_signature(part) for _, part, below in parts_below if below}
    parts = []
    for key, part, below in parts_below:
        if below:
            parts.append(ValuePart(carried(part, below), key))
        elif kind.kind in _FIELDED or _signature(part) not in alike:
            foreign = ValueShape("foreign", part.name) if has_graph(part) else part
            parts.append(ValuePart(foreign, key))
        else:
            parts.append(ValuePart(part, key))
    return replace(kind, parts=tuple(parts))


def _below(kind: ValueShape, key: str, paths: Sequence[str]) -> list[str]:
    """Return the rest of the paths that lead through a part; the empty path leads to all of it. A
    part without a key takes the paths whose entries no other part has.
    """
    known = {_step(kind, other) for other, _ in kind.items() if not key}
    first = [(p, _step(kind, key) if key else _first_entry(p)) for p in paths]
    return [
        p.removeprefix(step)
        for p, step in first
        if step and p.startswith(step) and step not in known
    ]


def _holds_tensor(kind: ValueShape) -> bool:
    return kind.kind == "tensor" or any(_holds_tensor(part) for _, part in kind.items())


def _depth(kind: ValueShape) -> int:
    """Return how many structures surround the innermost tensor."""
    if kind.kind in _FIELDED or not kind.parts:
        return 0
    return 1 + max(_depth(part) for _, part in kind.items())


def _signature(kind: ValueShape) -> object:
    """Return a key that is equal for shapes that are cut by the same expression."""
    if kind.kind == "tensor":
        return "leaf" if kind.leaf else "tensor"
    if not _holds_tensor(kind):
        return "none" if kind.kind == "none" else "plain"
    if kind.kind in _FIELDED:
        return kind.kind, kind.name, tuple((key, _signature(part)) for key, part in kind.items())
    return kind.kind, kind.name, frozenset(_signature(part) for _, part in kind.items())


@dataclass
class Writing:
    """Render code for one place of a script: its quotes, and its names for what has to be imported.

    `cut` is the template for a tensor, with `{0}` for it. `either`: another option of the script
    makes a pair of tensors of a state that is a tensor, or the other way round. `needs` collects
    what an expression used of `dataclasses` and `collections`.
    """

    quote: str = "'"
    replace: str | None = None
    deque: str = "deque"
    torch: str | None = "torch"
    cut: str = "{0}.detach()"
    either: bool = False
    needs: set[str] = field(default_factory=set)

    def expression(self, text: str, kind: ValueShape) -> str | None:
        """Return the value called `text` without its graph; None if no
        expression can express that.
        """
        if self.either and _is_state(kind) and _is_path(text):
            pair = f"tuple({self.cut.format('t')} for t in {text})"
            return f"{pair} if isinstance({text}, tuple) else {self.cut.format(text)}"
        if kind.kind == "tensor":
            return text if kind.leaf else self.cut.format(text)
        if not _holds_tensor(kind):
            return text
        match kind.kind:
            case "tuple" | "list" | "deque":
                return self._sequence(text, kind)
            case "dict":
                return self._mapping(text, kind)
            case "record":
                variable = _variable(text, kind)
                each = self._each(kind, variable)
                return f"type({text})(*({each} for {variable} in {text}))" if each else None
            case "namedtuple":
                fields = self._fields(text, kind)
                return f"{text}._replace({fields})" if fields else None
            case "dataclass" if self.replace and (fields := self._fields(text, kind)):
                self.needs.add("replace")
                return f"{self.replace}({text}, {fields})"
        return None

    def _fields(self, text: str, kind: ValueShape) -> str | None:
        """Return keywords for the fields that hold a graph."""
        held = [(field_name(key), part) for key, part in kind.items() if has_graph(part)]
        values = [(name, self.expression(f"{text}.{name}", part)) for name, part in held if name]
        if len(values) < len(held) or not _is_path(text) or any(v is None for _, v in values):
            return None
        return ", ".join(f"{name}={value}" for name, value in values)

    def _sequence(self, text: str, kind: ValueShape) -> str | None:
        variable = _variable(text, kind)
        item = self._each(kind, variable)
        if item is None:
            written = self._one_by_one(text, kind)
            item = self._each(kind, variable, loose=True) if written is None else None
            if item is None:
                return written
        each = f"{item} for {variable} in {text}"
        if kind.kind == "list":
            return f"[{each}]" if kind.name == "list" else None
        if kind.kind == "tuple":
            return f"tuple({each})" if kind.name == "tuple" else None
        self.needs.add("deque")
        kept = f"({each}), maxlen={text}.maxlen" if kind.maxlen else each
        return f"{self.deque}({kept})"

    def _each(self, kind: ValueShape, variable: str, *, loose: bool = False) -> str | None:
        """Return the new form of each item, called `variable`; None if the items differ too much.
        `loose` tests each for being a tensor.
        """
        held = {_signature(part): part for _, part in kind.items()}
        cut = [part for part in held.values() if _holds_tensor(part)]
        if len(cut) != 1 or "leaf" in held:
            return None
        inner = self.expression(variable, cut[0])
        rest = [part for part in held.values() if part is not cut[0]]
        if inner is None or not rest:
            return inner
        if all(part.kind == "none" for part in rest):
            return f"{variable} if {variable} is None else {inner}"
        if loose and cut[0].kind == "tensor" and self.torch is not None:
            return f"{inner} if isinstance({variable}, {self.torch}.Tensor) else {variable}"
        return None

    def _one_by_one(self, text: str, kind: ValueShape) -> str | None:
        """Return a short sequence item by item: `(s[0].detach(), s[1])`."""
        known = _is_path(text) and kind.size == len(kind.parts) <= FEW
        items = [self.expression(f"{text}[{key}]", part) for key, part in kind.items() if known]
        if kind.name not in ("tuple", "list") or not items or None in items:
            return None
        inner = ", ".join(map(str, items))
        return f"[{inner}]" if kind.kind == "list" else f"({inner}{',' * (kind.size == 1)})"

    def _mapping(self, text: str, kind: ValueShape) -> str | None:
        if kind.name != "dict":
            return None
        entries = [(k, part) for k, part in kind.items() if has_graph(part)]
        few = len(entries) <= FEW and _is_path(text)
        variable = _variable(text, kind)
        item = self._each(kind, variable, loose=not few)
        if item is not None:
            return f"{{key: {item} for key, {variable} in {text}.items()}}"
        keyed = [(self.key(entry), part) for entry, part in entries if few and entry]
        values = [(key, self.expression(f"{text}[{key}]", part)) for key, part in keyed]
        if not values or len(values) < len(entries) or any(value is None for _, value in values):
            return None
        return f"{{**{text}, {', '.join(f'{key}: {value}' for key, value in values)}}}"

    def key(self, key: str) -> str:
        """Return a key as the script would quote it."""
        plain = key.startswith("'") and '"' not in key and "\\" not in key
        return f"{self.quote}{key[1:-1]}{self.quote}" if plain else key

    def path(self, path: str) -> str:
        """Return a path with its keys quoted as the script quotes."""
        return path if '"' in path else path.replace("'", self.quote)

    def statements(self, name: str, kind: ValueShape, *, rebind: bool = True) -> list[str] | None:
        """Return statements after which `name` holds no graph. Without `rebind` the name belongs to
        an outer scope, and its value is changed in place.
        """
        parts = list(self._in_place(name, kind, rebind))
        if parts:
            return None if "" in parts else parts
        value = self.expression(name, kind)
        return [f"{name} = {value}"] if value is not None and rebind and value != name else None

    def _in_place(self, name: str, kind: ValueShape, rebind: bool) -> Iterator[str]:
        """Yield statements that change a value's parts; an empty one if a part cannot be cut."""
        if _is_changed(kind):
            for key, part in kind.items():
                if has_graph(part):
                    inner = self.statements(f"{name}.{field_name(key)}", part)
                    yield from inner if inner and field_name(key) else [""]
        elif kind.kind in _HOLDING and any(_is_changed(part) for _, part in kind.items()):
            held = {_signature(part): part for _, part in kind.items()}
            part = next(iter(held.values()))
            inner = self.statements("item", part) if len(held) == 1 else None
            each = f"{name}.values()" if kind.kind == "dict" else name
            yield from [f"for item in {each}:", *(f"\t{line}" for line in inner)] if inner else [""]
        elif kind.kind == "dict" and not (rebind and kind.name == "dict" and self._alike(kind)):
            entries = [(k, part) for k, part in kind.items() if has_graph(part)]
            if len(entries) <= FEW and not self._alike(kind):
                for key, part in entries:
                    inner = self.statements(f"{name}[{self.key(key)}]", part) if key else None
                    yield from inner or [""]
            else:
                variable = _variable(name, kind)
                item = self._each(kind, variable, loose=True)
                text = f"{{key: {item} for key, {variable} in {name}.items()}}"
                yield f"{name}.update({text})" if item else ""
        elif kind.kind == "list" and (not rebind or kind.name != "list"):
            variable = _variable(name, kind)
            item = self._each(kind, variable, loose=True)
            yield f"{name}[:] = [{item} for {variable} in {name}]" if item else ""

    def _alike(self, kind: ValueShape) -> bool:
        return self._each(kind, "t") is not None


def _is_state(kind: ValueShape) -> bool:
    """Return True for what a recurrent layer returns: a tensor, or a pair of them."""
    if kind.kind == "tensor":
        return has_graph(kind)
    pair = kind.kind == "tuple" and kind.name == "tuple" and len(kind.parts) == 2
    return pair and all(part.kind == "tensor" for _, part in kind.items())


_HOLDING = ("list", "tuple", "deque", "dict")


def _is_changed(kind: ValueShape) -> bool:
    """Return True if a value is an object whose attributes can be set."""
    own = kind.kind == "object" or (kind.kind == "dataclass" and not kind.frozen)
    return own and has_graph(kind)


def _variable(text: str, kind: ValueShape) -> str:
    """Return the name of an item: `t` for a tensor, `s` and `r` for structures of them."""
    name = "tsr"[min(_depth(kind), 3) - 1]
    return name if name != text else "item"


def _is_path(text: str) -> bool:
    """Return True if the expression can be evaluated twice without effect."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    plain = ast.Name | ast.Attribute | ast.Subscript | ast.Constant | ast.expr_context | ast.UnaryOp
    return all(isinstance(node, plain | ast.USub) for node in ast.walk(tree))
