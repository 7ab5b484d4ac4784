"""Replace several backward calls by one: on the sum of a loop's losses, before a loop that calls
backward on one loss for each part of the weights, or on one number computed from several values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.iteration_sources import taken_from
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.stepping import in_second_loop
from analyzers.repair.rewrite import (
    backward_of,
    move_after,
    move_into,
    sum_in_loop,
    unused_name,
    without_argument,
)
from analyzers.source.backward import BACKWARD_CALLS, backward_root, gradient_given
from analyzers.source.callees import is_call
from analyzers.source.calls import CLIPPING, ZERO_GRAD, call_in, calls_of, operations_in, steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bound_within, definitions, names_read
from analyzers.source.project import spelled
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of


def sum_after_loop(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that sum the losses in the loop and call backward once after it; then the
    steps of all iterations, in a second loop.
    """
    shared = story.shared
    statement = shared.reached if shared is not None and shared.loops else None
    if shared is None or statement is None or story.called_for(story.reuse.reached):
        return
    editor, loop = Editor(shared.module), shared.loops[0]
    call = call_in(statement, shared.reached_line, *BACKWARD_CALLS)
    if call is None:
        return
    name = unused_name(shared.module, "total_loss")
    texts = [module.text for module in story.project.modules.values()]
    first = story.reuse.engine != "torch" and not any("__radd__" in text for text in texts)
    summed = sum_in_loop(editor, loop, statement, call, name, loss_first=first)
    if stepped := steps(loop):
        own = [s for s in loop.body if isinstance(s, ast.Expr) and steps(s)]
        alone = len(own) == len(stepped) == 1 and story.each_of_many
        if summed is not None and alone and isinstance(loop, ast.For) and statement in loop.body:
            moved = in_second_loop(editor, loop, own[0])
            title = "Add up the losses, then call backward once, then the steps"
            note = "Weights that several optimizers step get the gradients of all the losses."
            yield Proposal("sum-then-step", title, joined([*summed, *moved]), note, 1)
        elif summed is not None and len(own) == len(stepped) == 1 and statement in loop.body:
            cleared = [s for s in loop.body if isinstance(s, ast.Expr) and calls_of(s, *ZERO_GRAD)]
            ahead = move_into(editor, cleared, loop) if cleared else ()
            moved = [*ahead, *move_after(editor, own, loop)]
            title = "Add up the losses, then call backward once and step once"
            note = "One step for all of them, in place of one for each."
            yield Proposal(
                "sum-then-step", title, joined([*summed, *moved]), note, SECOND_CHOICE + 1
            )
        return
    loss = backward_root(call)
    if loop.body == [statement] and isinstance(loop, ast.For) and loss is not None:
        if (many := _collection(editor, loop, spelled(loss))) is not None:
            summed = (editor.replace(loop, backward_of(editor, call, f"sum({many})")),)
    if summed is not None:
        yield Proposal("sum-then-backward", "Add up the losses, then call backward once", summed)


def _collection(editor: Editor, loop: ast.For, loss: str) -> str | None:
    """Return the losses that a loop iterates over, as one expression:
    `losses`, `losses.values()`.
    """
    scope = editor.module.scope_of(loop)
    if spelled(loop.target) == loss:
        generated = isinstance(loop.iter, ast.Call) and is_call(
            loop.iter, "builtins.zip", "builtins.enumerate"
        )
        return None if generated else editor.text_of(loop.iter)
    if isinstance(loop.iter, ast.Call) and is_call(loop.iter, "list.items"):
        assert isinstance(loop.iter.func, ast.Attribute)
        owner = editor.text_of(loop.iter.func.value)
        return f"{owner}.values()" if taken_from(loop, scope, loss) is not None else None
    return taken_from(loop, scope, loss)


_OF_ONE_NUMBER = re.compile(r"output\[\d+\] has a shape of torch\.Size\(\[\]\)|expected shape \[\]")


def runs_backward_per_part(story: ReuseFeatures) -> bool:
    """Return True if each iteration of the loop calls backward on one loss, computed before it, for
    the part of the weights that the iteration concerns (its `inputs=`, or what it clips), and none
    steps: one call gives all their gradients. A loop that only counts concerns no part.
    """
    loop, call = story.loop, story.root_call
    if not isinstance(loop, ast.For) or call is None or not story.reuse.same_root:
        return False
    root = backward_root(call)
    read = names_read(root) if root is not None else set()
    bound = bound_within(loop)
    if not story.same_line or story.steps_inside or not read or read & bound:
        return False
    of_part = any(word.arg == "inputs" for word in _of_a_part(loop, call))
    return of_part or _clips_a_part(loop)


def _clips_a_part(loop: ast.For) -> bool:
    """Return True if the iterations clip the gradients of the loop's variable."""
    parts = set(target_names(loop.target))
    clips = (call for statement in loop.body for call in operations_in(statement, CLIPPING))
    return any(names_read(argument) & parts for call in clips for argument in call.args)


def _of_a_part(loop: ast.For, call: ast.Call) -> list[ast.keyword]:
    """Return the options of a backward call that mention the loop's variable."""
    parts = set(target_names(loop.target))
    return [word for word in call.keywords if names_read(word.value) & parts]


def backward_before(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that moves the backward call before the loop, for all weights."""
    loop, call, shared = story.loop, story.root_call, story.shared
    if shared is None or call is None or not isinstance(loop, ast.For):
        return
    statement = shared.reached
    if not isinstance(statement, ast.Expr) or statement.value is not call or call.args:
        return
    editor = Editor(shared.module)
    kept = [w for w in call.keywords if w not in _of_a_part(loop, call)]
    options = ", ".join(editor.text_of(word) for word in kept)
    line = f"{editor.text_of(call.func)}({options})"
    edits = joined([editor.delete(statement), editor.insert_before(loop, line)])
    title = f"Call `{line}` once, before the loop"
    note = "One backward leaves the gradients of every part."
    yield Proposal("walk-in-front", title, edits, note)


def reduced(where: SourceLocation) -> Iterator[Proposal]:
    """Yield reductions to a scalar. For a loss: its mean, its sum. For a derivative: the sum, which
    is exact.
    """
    call = where.call(*BACKWARD_CALLS)
    tensor = backward_root(call) if call is not None else None
    if call is None or tensor is None:
        return
    if is_call(call, "torch.autograd.grad"):
        title = f"Ask for the derivative of `{where.editor.text_of(tensor)}.sum()`"
        edit = where.editor.append_to(tensor, ".sum()")
        yield Proposal("reduce-sum", title, (edit,), "", 0)
        return
    for rank, method in enumerate(_conventions(where)):
        title = f"Call backward on the {method} of the loss"
        edit = _at_definition(where, tensor, method) or where.editor.append_to(
            tensor, f".{method}()"
        )
        tradeoff = "`mean` and `sum` differ by a factor, which the learning rate feels."
        yield Proposal(f"reduce-{method}", title, (edit,), tradeoff, rank)


def fitting_gradient(where: SourceLocation, message: str) -> Iterator[Proposal]:
    """Yield proposals for a gradient that does not fit the output: none for one number, ones of the
    output's shape for several values; first what the message calls for.
    """
    call = where.call(*BACKWARD_CALLS)
    given = gradient_given(call) if call is not None else None
    root = backward_root(call) if call is not None else None
    if call is None or given is None or root is None:
        return
    title = "Leave the gradient out: the output is one number"
    argument = next((k for k in call.keywords if k.value is given), given)
    behind = call.args[call.args.index(given) + 1 :] if given in call.args else []
    edit = where.editor.replace(given, "None")
    edit = edit if behind else without_argument(where.editor, call, argument)
    several = "output[" in message and _OF_ONE_NUMBER.search(message) is None
    yield Proposal("no-gradient-argument", title, (edit,), "", int(several))
    title = "Weigh every value of the output by one"
    edit = where.editor.replace(given, f"torch.ones_like({where.editor.text_of(root)})")
    yield Proposal("ones-like", title, (edit,), "", int(not several))


def _conventions(where: SourceLocation) -> list[str]:
    """Return `mean` and `sum`, first the one that the script uses for its losses."""
    means = sums = 0
    for node in nodes_of(where.module.tree, ast.Call):
        if isinstance(node.func, ast.Attribute):
            means += node.func.attr == "mean"
            sums += node.func.attr == "sum" and not node.args
    return ["sum", "mean"] if sums > means else ["mean", "sum"]


def _at_definition(where: SourceLocation, tensor: ast.expr, method: str) -> Edit | None:
    """Return an edit that reduces the value where the root is bound, if that always precedes the
    backward call; then what is logged is one number too.
    """
    made = definitions(where.scope, tensor.id) if isinstance(tensor, ast.Name) else []
    before = [s for s in made if isinstance(s, ast.Assign) and s.lineno < where.statement.lineno]
    before = [s for s in before if where.module.holds(where.module.parents[s], where.statement)]
    match before[-1:]:
        case [ast.Assign(targets=[ast.Name()], value=value)]:
            return where.editor.append_to(value, f".{method}()")
    return None
