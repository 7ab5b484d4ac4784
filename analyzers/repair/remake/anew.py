"""Fixes that compute anew in each pass what a caller, a constructor or a context made once."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.beforehand import ran_before
from analyzers.explain.reuse.passing import arguments, call_into, handed_down
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import text_with
from analyzers.repair.remake.caches import without_cache
from analyzers.repair.remake.constructors import out_of_constructor
from analyzers.repair.remake.handing_in import handed_in, own_names
from analyzers.repair.rewrite import head_of, made_anew, move_into
from analyzers.source.edits import Edit, Editor, statement_first_line
from analyzers.source.flow import (
    assigned_parts,
    bindings,
    definitions,
    mentions,
    value_of,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Module, Scope, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.signatures import positional
from analyzers.source.trees import position, walk

_MAX_READERS = 3
_PLAIN_CONTEXTS = ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "open")


def recompute_where_used(story: Story) -> Iterator[Proposal]:
    """A cache undone; what a constructor makes, made where it is read; what was handed down
    computed in the loop; a context around the loop entered in each pass."""
    yield from without_cache(story)
    yield from out_of_constructor(story)
    if not story.attribute:
        yield from _moved_into_readers(story)
    yield from _handed_down(story)
    yield from _by_helper(story)
    yield from _context_inside(story)


def _handed_down(story: Story) -> Iterator[Proposal]:
    """`adj = model.graph()` in the caller becomes the same line in the loop of the function that
    is given `adj`, in that function's own names."""
    shared, loop = story.shared, story.loop
    above = story.above
    if shared is None or loop is None or len(above) < 2:
        return
    for caller, argument in handed_down(above, story.name):
        if caller is not above[-2]:
            return
        made = definitions(caller.scope, spelled(argument))
        call = call_into(caller, shared.scope)
        if call is None or len(made) != 1 or not isinstance(made[0], ast.Assign):
            return
        if not isinstance(made[0].targets[0], ast.Name):
            return
        names = {spelled(v): p for p, v in arguments(call, shared.module, shared.scope)}
        parts = [n for n in own_names(caller.scope, made[0].value) if n not in names]
        handed = handed_in(story.project, caller, above[-1], loop, story.name, parts)
        names |= {part: part for part in parts}
        text = in_names_of(shared.module, caller.module, made[0].value, names)
        if text is not None and handed is not None:
            edit = Editor(shared.module).insert_before(head_of(loop), f"{story.name} = {text}")
            title = f"Compute `{story.name}` inside the loop of `{shared.function}`"
            yield made_anew("forward-into-loop", title, edit, *handed)


def in_names_of(module: Module, home: Module, value: ast.expr, names: dict[str, str]) -> str | None:
    """An expression of one function in the names of another that was given some of them; None
    where it reads what the other does not know."""
    known = _module_names(module.tree) if module is home else set()
    editor = Editor(home)
    edits: list[Edit] = []
    for node in walk(value):
        if not isinstance(node, ast.Name) or hasattr(builtins, node.id):
            continue
        if node.id in names:
            edits.append(editor.replace(node, names[node.id]))
        elif node.id not in known:
            return None
    return text_with(editor, value, edits)


def _module_names(tree: ast.Module) -> set[str]:
    """What every function of a module knows: its imports, functions, classes and globals."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= set(bindings(node))
    return names


def _by_helper(story: Story) -> Iterator[Proposal]:
    """A method that was called before the loop, called again where what it makes is read; with
    the arguments that it has kept."""
    for module, scope, _ in story.binders if story.attribute else ():
        owner = module.parents.get(scope)
        if not isinstance(scope, ast.FunctionDef) or not isinstance(owner, ast.ClassDef):
            continue
        given = _kept_arguments(scope)
        if scope.name == "__init__" or given is None or not ran_before(story, scope):
            continue
        editor = Editor(module)
        readers = _readers(owner, f"self.{story.attribute}", scope)
        call = f"self.{scope.name}({', '.join(given)})"
        if 0 < len(readers) <= _MAX_READERS:
            edits = [editor.insert_before(head_of(reader), call) for reader in readers]
            told = " and ".join(f"`{reader.name}`" for reader in readers)
            yield made_anew("compute-in-method", f"Call `{call}` in {told}", *edits)
        return


def _kept_arguments(method: ast.FunctionDef) -> list[str] | None:
    """The attributes under which a method keeps its arguments; None where it does not."""
    kept = {
        spelled(part): spelled(target)
        for statement in method.body
        for target, part in assigned_parts(statement)
        if spelled(target).startswith("self.")
    }
    names = positional(method)[1:]
    return [kept[name] for name in names] if set(names) <= kept.keys() else None


def _readers(owner: ast.ClassDef, name: str, maker: Scope) -> list[ast.FunctionDef]:
    """The methods that read an attribute, but for the constructor and its maker."""
    return [
        method
        for method in owner.body
        if isinstance(method, ast.FunctionDef)
        and method is not maker
        and method.name != "__init__"
        and any(mentions(statement, name) for statement in method.body)
    ]


def _context_inside(story: Story) -> Iterator[Proposal]:
    """`with cache(): for x in data:` becomes `for x in data: with cache():`; a context that keeps
    what it has computed then keeps it for one pass."""
    for loop in story.shared.loops if story.shared is not None else ():
        module = story.frame.module
        block = module.parents.get(loop)
        if not isinstance(block, ast.With) or block.body != [loop] or loop.orelse:
            continue
        header = " ".join(spelled(item) for item in block.items)
        first = statement_first_line(loop.body[0])
        lines = module.lines[block.lineno - 1 : first - 1]
        parted = loop.lineno == block.lineno + 1 and first > loop.lineno
        if not parted or any(name in header for name in _PLAIN_CONTEXTS):
            continue
        editor = Editor(module)
        step = editor.indent_of(loop).removeprefix(editor.indent_of(block))
        start, end = editor.offset(block.lineno, 0), editor.offset(first, 0)
        inner = [line.removeprefix(step) for line in lines[1:]]
        swapped = "".join(line + editor.newline for line in [*inner, step + lines[0]])
        edit = Edit(module.path, start, end, swapped)
        title = f"Enter `{spelled(block.items[0])}` in each pass"
        yield made_anew("context-in-loop", title, edit)


def computed_for_next_pass(story: Story) -> Iterator[Proposal]:
    """`value = next_value` behind the walk becomes the call that made `next_value`: the next pass
    gets a graph of its own, from the weights as the step has left them."""
    shared = story.shared
    for module, scope, statement in story.binders:
        value = value_of(statement)
        if shared is None or scope is not shared.scope or not isinstance(value, ast.Name):
            continue
        behind = position(statement) > shared.freed_at
        if not behind or not story.binds_inside(module, scope, statement):
            continue
        made = [s for s in definitions(scope, value.id) if position(s) < shared.freed_at]
        maker = value_of(made[-1]) if made else None
        if isinstance(maker, ast.Call) and isinstance(made[-1], ast.Assign):
            editor = Editor(module)
            edit = editor.replace(value, editor.text_of(maker))
            title = f"Compute `{story.name}` anew for the next pass"
            yield made_anew("compute-for-next-pass", title, edit)


def _moved_into_readers(story: Story) -> Iterator[Proposal]:
    """Move a statement of a module, or of a factory, into the one function within it that reads
    what it makes."""
    for module in story.project.modules.values():
        for scope in module.scopes:
            made = definitions(scope, story.name)
            if len(made) == 1 and isinstance(made[0], ast.Assign):
                yield from _into_reader(story, module, scope, made[0])


def _into_reader(
    story: Story, module: Module, scope: ast.AST, statement: ast.Assign
) -> Iterator[Proposal]:
    reads = [
        node
        for node in names_loaded(walk(scope), story.name)
        if not _is_parameter(module.scope_of(node), story.name)
    ]
    readers = {module.scope_of(node) for node in reads}
    reader = readers.pop() if len(readers) == 1 else None
    if isinstance(reader, ast.Lambda) and len(reads) == 1:
        editor = Editor(module)
        text = editor.text_of(statement.value)
        plain = isinstance(statement.value, ast.Call | ast.Attribute | ast.Subscript)
        inside = editor.replace(reads[0], text if plain else f"({text})")
        title = f"Compute `{story.name}` in the function that reads it"
        yield made_anew("compute-in-function", title, editor.delete(statement), inside)
    if not isinstance(reader, ast.FunctionDef) or reader is scope:
        return
    if any(statement is node for node in walk_scope(reader)):
        return
    editor = Editor(module)
    edits = move_into(editor, [statement], head_of(reader))
    yield made_anew("compute-in-function", f"Compute `{story.name}` in `{reader.name}`", *edits)


def _is_parameter(scope: Scope, name: str) -> bool:
    return isinstance(scope, FUNCTIONS) and name in positional(scope)
