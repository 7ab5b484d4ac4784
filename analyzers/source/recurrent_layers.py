"""Recognize scripts of which an option chooses between recurrent layers of different states."""

from __future__ import annotations

import ast

from analyzers.source.name_resolution import Names, names_of
from analyzers.source.object_sources import Makers
from analyzers.source.project import Project
from analyzers.source.trees import remembered, walk

_OF_PAIR = {"torch.nn.LSTM", "torch.nn.LSTMCell"}
_OF_TENSOR = {"torch.nn.GRU", "torch.nn.GRUCell", "torch.nn.RNN", "torch.nn.RNNCell"}


@remembered
def state_may_be_pair_or_tensor(project: Project) -> bool:
    """Return True if one recurrent layer is, by an option, an LSTM (whose state is a pair of
    tensors) or another one (whose state is a tensor).
    """
    if not any(_names_layers(module.tree) for module in project.modules.values()):
        return False
    calls = (call for _, call in project.each(ast.Call) if len(call.args) + len(call.keywords) > 1)
    return any(_is_either(call) for call in calls)


def _names_layers(tree: ast.Module) -> bool:
    """Return True if a file names layers of both kinds, or looks some up by a string."""
    nodes = [*walk(tree)]
    named = {f"torch.nn.{node.attr}" for node in nodes if isinstance(node, ast.Attribute)}
    named |= {f"torch.nn.{node.id}" for node in nodes if isinstance(node, ast.Name)}
    return "torch.nn.getattr" in named or bool(named & _OF_PAIR and named & _OF_TENSOR)


def _is_either(call: ast.Call) -> bool:
    """Return True if what is called was created by either kind of constructor."""
    names = names_of(call)
    if names is None or not isinstance(call.func, ast.Name | ast.Attribute):
        return False
    made = [*Makers(names).of(call.func)]
    if _are_both({path for path, _ in made}):
        return True
    chosen = [node.func for path, node in made if not path and isinstance(node, ast.Call)]
    return any(_is_chosen(function, names) for function in chosen)


def _is_chosen(function: ast.expr, names: Names) -> bool:
    """Return True for `getattr(nn, name)` and for `{"LSTM": nn.LSTM, "GRU": nn.GRU}[name]`, also
    under a name of its own.
    """
    for _, node in [("", function), *Makers(names).of(function)]:
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[package, name, *_]):
                if names.qualified(package) == "torch.nn" and not isinstance(name, ast.Constant):
                    return True
    return _are_both({names.qualified(node) for _, node in Makers(names).of(function)})


def _are_both(kinds: set[str]) -> bool:
    return bool(kinds & _OF_PAIR and kinds & _OF_TENSOR)
