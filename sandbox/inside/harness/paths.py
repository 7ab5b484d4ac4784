"""Which values a text's names stand for, found without running it."""

from __future__ import annotations

import ast

from .entries import is_static
from .scoped_paths import ScopedPaths
from .uses import bound, item, last_name, names_of

MOST = 4  # of the names that a loop does something to


class Paths(ScopedPaths, ast.NodeVisitor):
    """Follows the bindings of a whole text."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__()
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        for _ in range(2):  # what a later line sets is known the second time
            self._collect(tree)

    def _collect(self, tree: ast.Module) -> None:
        self.begin(tree)
        self._home = [""]
        self.visit(tree)

    # ---- scopes

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        home = self._home[-1]
        self._scopes[-1][node.name] = None
        name = f"{home}.{node.name}" if home else node.name
        self.functions[name] = node
        scope: dict[str, str | None] = dict.fromkeys(bound(node.body))
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in arguments:
            scope[argument.arg] = self._aliased(f"{name}.{argument.arg}")
        if arguments and arguments[0].arg == "self":
            scope["self"] = f"{home}.self" if home else "self"
        if node.args.vararg is not None:
            scope[node.args.vararg.arg] = None
        if node.args.kwarg is not None:
            scope[node.args.kwarg.arg] = f"{name}.{node.args.kwarg.arg}"
        for part in (*node.decorator_list, *node.args.defaults):
            self.visit(part)
        self._scopes.append(scope)
        self._home.append(name)
        for statement in node.body:
            self.visit(statement)
        self._scopes.pop()
        self._home.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 (a visitor names them)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scopes[-1][node.name] = None
        for base in node.bases:
            if (use := self.use(base)) is not None:
                use.base = True
        self._scopes.append(dict.fromkeys(bound(node.body)))
        self._home.append(node.name)
        self.generic_visit(node)
        self._scopes.pop()
        self._home.pop()

    # ---- binding

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._scopes[-1].update(dict.fromkeys(names_of(node)))

    visit_ImportFrom = visit_Import  # noqa: N815 (a visitor names them)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._scopes[-1][node.name] = None
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bind(node.target, self.path(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._bind(node.target, self.path(node.value))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                self._bind_parts(target, node.value)
            else:
                self._bind(target, self.path(node.value), self._items(node.value))
                self._taken_apart(target, node.value)

    def _bind_parts(self, target: ast.expr, value: ast.expr) -> None:
        """Bind a target to a value; of two that are both written out, part by part."""
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for one, part in zip(target.elts, value.elts, strict=False):
                self._bind_parts(one, part)
        else:
            self._bind(target, self.path(value))

    def _taken_apart(self, target: ast.expr, value: ast.expr) -> None:
        """Record that `a, b = (f(x) for x in y)` shows how many there are in `y`, which is no
        loader."""
        match target, value:
            case ast.Tuple(elts=targets), (
                ast.GeneratorExp(generators=[along]) | ast.ListComp(generators=[along])
            ):
                path = self.path(along.iter)
                if path is not None and not along.ifs:
                    use = self.of[path]
                    use.parts, use.iterated = max(use.parts, len(targets)), False
                    self.of.update((f"{path}[{n}]", self.of[f"{path}[]"]) for n in range(use.parts))

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        each = node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) else []
        for one in each[:-1][:MOST]:
            self._bind_parts(node.target, one)  # what is done to each of some names
            for statement in node.body:
                self.visit(statement)
        self._bind_item(node.target, node.iter)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        self._scopes.append(dict.fromkeys(names_of(node.target)))
        self._bind_item(node.target, node.iter)
        for test in node.ifs:
            self.visit(test)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._comprehension(node.generators, [node.elt])

    visit_SetComp = visit_GeneratorExp = visit_ListComp  # noqa: N815 (a visitor names them)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def _comprehension(self, generators: list[ast.comprehension], parts: list[ast.expr]) -> None:
        for generator in generators:
            self.visit(generator)
        for part in parts:
            self.visit(part)
        if len(parts) == 2 and (use := self.use(parts[0])) is not None:
            use.key = True
        del self._scopes[len(self._scopes) - len(generators) :]

    def visit_With(self, node: ast.With) -> None:
        for entered in node.items:
            self.visit(entered.context_expr)
            if (use := self.use(entered.context_expr)) is not None:
                use.context = True
            if entered.optional_vars is not None:
                self._bind(entered.optional_vars, self.path(entered.context_expr))
        for statement in node.body:
            self.visit(statement)

    def _bind_item(self, target: ast.expr, iterated: ast.expr) -> None:
        """Bind a loop's target to an item of what is iterated over."""
        match iterated:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
                if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                    self._bind(target.elts[0], None)
                    self._bind_item(target.elts[1], inner)
                return
            case ast.Call(func=ast.Name(id="zip"), args=args) if isinstance(target, ast.Tuple):
                for one, inner in zip(target.elts, args, strict=False):
                    self._bind_item(one, inner)
                return
            case ast.Call(func=ast.Attribute(value=held, attr="items" | "values" as kind), args=[]):
                path = self.path(held)
                if kind == "items":
                    pair = target.elts if isinstance(target, ast.Tuple) else []
                    self._bind(pair[0] if pair else target, None)
                    target, path = (pair[1], path) if len(pair) == 2 else (target, None)
                self._bind(target, None if path is None else f"{path}[]")
                return
            case ast.Call(func=ast.Name(id="range"), args=args):
                if len(args) > 1 and (begin := self.use(args[0])) is not None:
                    begin.begins = True
                self._bind(target, None)
                return
            case ast.Call(func=ast.Name(id="reversed" | "sorted" | "iter"), args=[inner, *_]):
                self._bind_item(target, inner)
                return
            case ast.Tuple(elts=[*_, last]) | ast.List(elts=[*_, last]):
                self._bind_parts(target, last)
                return
        path = self.path(iterated)
        if path is not None:
            self.of[path].iterated = True
        self._bind(target, None if path is None else self._aliased(f"{path}[]"))

    def _items(self, value: ast.expr) -> str | None:
        """Return the path of what a list is filled with, also for lists of torch's modules."""
        match value:
            case ast.ListComp(elt=one) | ast.List(elts=[one, *_]):
                return self.path(one)
            case ast.Call(args=[inner, *_]) if last_name(value.func) in ("ModuleList", "list"):
                return self._items(inner)
        return None

    def _bind(self, target: ast.expr, path: str | None, items: str | None = None) -> None:
        match target:
            case ast.Name(id=name):
                self._scopes[-1][name] = path
                if path is not None:
                    self.of[path].names.add(name)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                if path is not None:
                    self.of[path].parts = max(self.of[path].parts, len(targets))
                for number, one in enumerate(targets):
                    self._bind(one, None if path is None else f"{path}[{number}]")
            case ast.Attribute(value=value, attr=attr):
                self.visit(value)
                if items is not None and (holder := self.path(value)) is not None:
                    self._aliases.setdefault(f"{holder}.{attr}[]", items)
                if path is not None and (holder := self.path(value)) is not None:
                    self._aliases.setdefault(f"{holder}.{attr}", path)
            case ast.Subscript(value=value, slice=key):
                self.visit(target)
                if path is not None and (holder := self.path(value)) is not None:
                    self._aliases.setdefault(holder + item(key), path)

    def _hand_over(self, node: ast.Call) -> None:
        """Bind the parameters of one of the script's functions to a call's arguments."""
        match node.func:
            case ast.Name(id=name):
                called, skipped = name, 0
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                home = self._home[-1].partition(".")[0]
                called, skipped = attr if home in self.functions else f"{home}.{attr}", 1
            case _:
                return
        if called not in self.functions:
            return
        skipped *= not is_static(self.functions[called])
        arguments = self.functions[called].args.args[skipped:]
        for argument, given in zip(arguments, node.args, strict=False):
            path, own = self.path(given), f"{called}.{argument.arg}"
            if path is not None and path != own:
                self._aliases.setdefault(own, path)
