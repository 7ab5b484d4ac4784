"""Recompute in each iteration what a caller, a constructor or a context computed once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.runs_before import ran_before
from analyzers.repair.remake.caches import without_cache
from analyzers.repair.remake.constructors import (
    called_in_forward,
    kept_by,
    out_of_constructor,
    readers_of,
)
from analyzers.repair.remake.thread_parameter import computed_below
from analyzers.repair.rewrite import head_of, move_into, recomputed
from analyzers.source.callees import operation
from analyzers.source.edits import Edit, Editor, needs_parentheses, statement_first_line
from analyzers.source.flow import definitions, value_of, walk_scope
from analyzers.source.ops import FACTORIES
from analyzers.source.priors import is_discount
from analyzers.source.project import FUNCTIONS, Module, Scope, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.signatures import positional
from analyzers.source.trees import position, walk

_MAX_READERS = 3


def recompute_where_used(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that remove a cache; compute a constructor's value where it is read; compute
    an argument in the loop; or enter a context around the loop in each iteration.
    """
    yield from without_cache(story)
    yield from called_in_forward(story)
    yield from out_of_constructor(story)
    if not story.attribute:
        yield from _moved_into_readers(story)
    yield from computed_below(story)
    yield from _by_helper(story)
    yield from _context_inside(story)


def _by_helper(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that call a method, called before the loop, again where its result is read,
    with the arguments that it stored.
    """
    for module, scope, _ in story.binders if story.attribute else ():
        owner = module.parents.get(scope)
        if not isinstance(scope, ast.FunctionDef) or not isinstance(owner, ast.ClassDef):
            continue
        kept, taken = kept_by(scope), positional(scope)[1:]
        if scope.name == "__init__" or set(taken) - kept.keys() or not ran_before(story, scope):
            continue
        editor = Editor(module)
        readers = readers_of(owner, f"self.{story.attribute}", scope)
        call = f"self.{scope.name}({', '.join(f'self.{kept[name]}' for name in taken)})"
        if 0 < len(readers) <= _MAX_READERS:
            edits = [editor.insert_before(head_of(reader), call) for reader in readers]
            names = " and ".join(f"`{reader.name}`" for reader in readers)
            yield recomputed("compute-in-method", f"Call `{call}` in {names}", *edits)
        return


def _context_inside(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that turns `with cache(): for x in data:` into `for x in data: with
    cache():`; a context that caches results then keeps them for one iteration.
    """
    for loop in story.shared.loops if story.shared is not None else ():
        module = story.frame.module
        block = module.parents.get(loop)
        if not isinstance(block, ast.With) or block.body != [loop] or loop.orelse:
            continue
        first = statement_first_line(loop.body[0])
        lines = module.lines[block.lineno - 1 : first - 1]
        if loop.lineno != block.lineno + 1 or first == loop.lineno:
            continue
        editor = Editor(module)
        step = editor.indent_of(loop).removeprefix(editor.indent_of(block))
        start, end = editor.offset(block.lineno, 0), editor.offset(first, 0)
        inner = [line.removeprefix(step) for line in lines[1:]]
        swapped = "".join(line + editor.newline for line in [*inner, step + lines[0]])
        edit = Edit(module.path, start, end, swapped)
        title = f"Enter `{spelled(block.items[0])}` in each iteration"
        yield recomputed("context-in-loop", title, edit)


def computed_for_next_iteration(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that replaces `value = next_value` after the backward call by the call that
    computed `next_value`: the next iteration gets its own graph, from the weights after the step.
    """
    shared = story.shared
    for module, scope, statement in story.binders:
        value = value_of(statement)
        if shared is None or scope is not shared.scope or not isinstance(value, ast.Name):
            continue
        after_freed = position(statement) > shared.freed_at
        if not after_freed or not story.binds_inside(module, scope, statement):
            continue
        made = [s for s in definitions(scope, value.id) if position(s) < shared.freed_at]
        maker = _network(value_of(made[-1])) if made else None
        if maker is not None and isinstance(made[-1], ast.Assign):
            editor = Editor(module)
            edits = [editor.replace(value, editor.text_of(maker))]
            title = f"Compute `{story.name}` again for the next iteration"
            discounted = _discounted(scope, value.id)
            if discounted:
                title += f", and detach `{value.id}` where it is a target"
                edits += [editor.append_to(node, ".detach()") for node in discounted]
            rank = -SECOND_CHOICE if discounted else 0  # a cut would train it no more
            yield recomputed("compute-for-next-pass", title, *edits, rank=rank)


def _network(maker: ast.expr | None) -> ast.Call | None:
    """Return the call that computes a value; of a conditional expression, the script's own call."""
    if isinstance(maker, ast.IfExp):
        both = (maker.body, maker.orelse)
        made = [one for one in both if isinstance(one, ast.Call)]
        made = [one for one in made if operation(one) not in FACTORIES]
        return made[0] if len(made) == 1 else None
    return maker if isinstance(maker, ast.Call) else None


def _discounted(scope: Scope, name: str) -> list[ast.expr]:
    """Return where a name is multiplied by a discount while its gradient is not wanted."""
    found: list[ast.expr] = []
    for node in walk_scope(scope):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, ast.Name) and one.id == name and is_discount(spelled(other)):
                    found.append(one)
    return found


def _moved_into_readers(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that move a statement of a module, or of a factory, into the only inner
    function that reads its result.
    """
    for module in story.project.modules.values():
        for scope in module.scopes:
            made = definitions(scope, story.name)
            if len(made) == 1 and isinstance(made[0], ast.Assign):
                yield from _into_reader(story, module, scope, made[0])


def _into_reader(
    story: ReuseFeatures, module: Module, scope: ast.AST, statement: ast.Assign
) -> Iterator[Proposal]:
    loaded = names_loaded(walk(scope), story.name)
    reads = [node for node in loaded if not _is_parameter(module.scope_of(node), story.name)]
    readers = {module.scope_of(node) for node in reads}
    reader, editor = readers.pop() if len(readers) == 1 else None, Editor(module)
    if isinstance(reader, ast.Lambda) and len(reads) == 1:
        text = editor.text_of(statement.value)
        inside = f"({text})" if needs_parentheses(statement.value) else text
        put = editor.replace(reads[0], inside)
        title = f"Compute `{story.name}` in the function that reads it"
        yield recomputed("compute-in-function", title, editor.delete(statement), put)
    elif isinstance(reader, ast.FunctionDef) and statement not in walk_scope(reader):
        edits = move_into(editor, [statement], _reading_first(reader, reads))
        yield recomputed(
            "compute-in-function", f"Compute `{story.name}` in `{reader.name}`", *edits
        )


def _reading_first(reader: ast.FunctionDef, reads: list[ast.Name]) -> ast.stmt:
    """Return the statement of the function that reads first: what stands ahead of it may have
    changed the weights."""
    line = min(read.lineno for read in reads)
    return next(s for s in reader.body if s.lineno <= line <= (s.end_lineno or line))


def _is_parameter(scope: Scope, name: str) -> bool:
    return isinstance(scope, FUNCTIONS) and name in positional(scope)
