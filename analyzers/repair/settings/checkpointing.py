"""Fix checkpointing: use the non-reentrant kind, and remove what differs between forward and
recomputation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.advice import Hint, hints, looking
from analyzers.advice.checkpoints import (
    autocast_around_checkpoint,
    drawn_in_checkpoint,
    reentrant_checkpointing,
    state_in_checkpoint,
)
from analyzers.advice.training import cache_in_use
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.rewrite import with_keyword
from analyzers.source.callees import is_call, keyword
from analyzers.source.calls import is_false
from analyzers.source.edits import Edit, Editor
from analyzers.source.project import Module, Project, spelled
from analyzers.source.trees import walk
from analyzers.source.writes import is_true
from analyzers.tracebacks import ParsedTraceback
from provenance import CodeLine

NOT_REENTRANT = "use_reentrant"
_CHECKPOINT = (
    "torch.utils.checkpoint.checkpoint",
    "torch.utils.checkpoint.checkpoint_sequential",
)
_ENABLE = "transformers.PreTrainedModel.gradient_checkpointing_enable"
_KWARGS = "gradient_checkpointing_kwargs"
_ADAPTERS = ("get_peft_model", "LoraConfig", "prepare_model_for_kbit_training", "PeftModel", "lora")


def not_reentrant(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with `use_reentrant=False` at every checkpoint."""
    edits = [
        edit for editor, call in _checkpoints(project) for edit in _not_reentrant(editor, call)
    ]
    if edits:
        title = "Checkpoint with `use_reentrant=False`"
        yield Proposal("not-reentrant", title, tuple(edits))


def _checkpoints(project: Project) -> Iterator[tuple[Editor, ast.Call]]:
    for module, call in project.each(ast.Call):
        if _is_reentrant(call, module):
            yield Editor(module), call


def _is_explicit(call: ast.Call) -> bool:
    """Return True if a checkpoint is explicitly reentrant."""
    return is_call(call, *_CHECKPOINT) and is_true(keyword(call, NOT_REENTRANT))


def _not_reentrant(editor: Editor, call: ast.Call) -> Iterator[Edit]:
    if is_call(call, *_CHECKPOINT):
        yield with_keyword(editor, call, NOT_REENTRANT, "False")
    elif is_call(call, _ENABLE) and not call.args:
        yield with_keyword(editor, call, _KWARGS, f'{{"{NOT_REENTRANT}": False}}')


def uncached(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal without a cache of keys and values during training."""
    for module in project.modules.values():
        for node in module.nodes:
            if cache_in_use(node, module) is None:
                continue
            if isinstance(node, ast.keyword | ast.Assign) and spelled(node.value) == "True":
                edit = Editor(module).replace(node.value, "False")
                yield Proposal("no-cache", "Keep no cache while training", (edit,))


def counted_outside(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that moves what the checkpointed part counts or collects out of it."""
    for module in project.modules.values():
        for node in module.each(ast.stmt):
            inner = node.value if isinstance(node, ast.Expr) else node
            state = state_in_checkpoint(inner, module)
            if state is not None:
                title = f"Change `{state}` outside of the checkpointed part only"
                yield Proposal("no-state", title, (Editor(module).delete(node),))


def drawn_before(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with random numbers of generators that a checkpoint restores."""
    for module in project.modules.values():
        for node in module.each(ast.Call):
            if drawn_in_checkpoint(node, module) is None:
                continue
            editor, text = Editor(module), spelled(node.func)
            if text in ("random.random", "np.random.rand", "numpy.random.rand") and not node.args:
                title = "Draw with torch's generator, which the checkpoint restores"
                edit = editor.replace(node, "torch.rand(()).item()")
                yield Proposal("restored-draw", title, (edit,), "", 3)
        for call in module.each(ast.Call):
            kept = keyword(call, "preserve_rng_state")
            if kept is not None and is_false(kept):
                edit = Editor(module).replace(kept, "True")
                title = "Restore the random state for the recomputation"
                yield Proposal("restored-draw", title, (edit,), "", 3)


def autocast_without_cache(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal in which autocast casts weights each time, in the recomputation as in the
    forward.
    """
    for module in project.modules.values():
        for node in module.each(ast.Call):
            if autocast_around_checkpoint(node, module) is not None:
                edit = with_keyword(Editor(module), node, "cache_enabled", "False")
                title = "Cast weights in the recomputation as in the forward"
                yield Proposal("no-cast-cache", title, (edit,), "", 2)


def checkpoint_around(places: Sequence[CodeLine | None], project: Project) -> CodeLine | None:
    """Return the line of a reentrant checkpoint among these, or one that passes the function which
    contains the last of them.
    """
    for place in places:
        where = resolve_location(project, place)
        for call in walk(where.statement) if where is not None else ():
            if (
                where is not None
                and isinstance(call, ast.Call)
                and _is_reentrant(call, where.module)
            ):
                return where.place
    last = places[-1] if places else None
    function = last.function.rpartition(".")[2] if last is not None else ""
    for editor, call in _checkpoints(project) if function else ():
        given = spelled(call.args[0]).rpartition(".")[2] if call.args else ""
        if given == function or (function == "forward" and not _is_function(given, project)):
            return CodeLine(editor.module.path, call.lineno)
    return None


def _is_function(name: str, project: Project) -> bool:
    """Return True if a function of the script has this name; a module object does not count."""
    return any(node.name == name for _, node in project.each(ast.FunctionDef))


def _is_reentrant(call: ast.Call, module: Module) -> bool:
    return reentrant_checkpointing(call, module) is not None or _is_explicit(call)


def checkpoint_hint(message: str, project: Project) -> Hint | None:
    """Return the line of a reentrant checkpoint, with what to do."""
    found = hints(project, ParsedTraceback(message=message, family="no-grad", kind="detached"))
    return next((hint for hint in found if "use_reentrant" in hint.text), None)


def has_frozen(project: Project) -> bool:
    """Return True if something is frozen, by a flag or by the use of adapters."""
    frozen, adapters = looking.requires_grad(False), looking.mentions(*_ADAPTERS)
    return any(
        frozen(node, module) is not None or adapters(node, module) is not None
        for module in project.modules.values()
        for node in module.nodes
    )
