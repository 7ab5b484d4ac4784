"""Replace layers that store a computed weight with its graph: `weight_norm` and `spectral_norm` of
`torch.nn.utils`. Those of its `parametrizations` compute it on access.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import joined
from analyzers.source.edits import Edit, Editor
from analyzers.source.project import Module, Project, spelled

NAMES = frozenset({"weight_norm", "spectral_norm"})
_OLD, _NEW = "torch.nn.utils", "torch.nn.utils.parametrizations"


def reparametrised(project: Project) -> Iterator[Proposal]:
    """Yield a proposal with the newer functions of the same names."""
    edits = [edit for module in project.modules.values() for edit in _renewed(module)]
    if edits:
        title = f"Take it from `{_NEW}`, which keeps no computed weight"
        yield Proposal("parametrization", title, joined(edits))


def _renewed(module: Module) -> Iterator[Edit]:
    editor = Editor(module)
    for node in module.each(ast.ImportFrom):
        names = [item.name for item in node.names]
        if node.module in (_OLD, *(f"{_OLD}.{name}" for name in NAMES)) and NAMES & set(names):
            yield from _imported(editor, node)
    for attribute in module.each(ast.Attribute):
        owner = spelled(attribute.value)
        if attribute.attr in NAMES and (owner == "utils" or owner.endswith("nn.utils")):
            yield editor.append_to(attribute.value, ".parametrizations")


def _imported(editor: Editor, node: ast.ImportFrom) -> Iterator[Edit]:
    """Yield edits that import the same names from there; others stay where they come from."""
    moved, others = (
        [f"{n.name} as {n.asname}" if n.asname else n.name for n in node.names if keep(n.name)]
        for keep in (NAMES.__contains__, lambda name: name not in NAMES)
    )
    line = f"from {_NEW} import {', '.join(moved)}"
    if others:
        yield editor.replace(node, f"from {node.module} import {', '.join(others)}")
        yield editor.insert_after(node, line)
    else:
        yield editor.replace(node, line)
