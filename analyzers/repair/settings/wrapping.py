"""Fix arguments of DDP, and repeated forwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.repair.rewrite import with_keyword, without_true
from analyzers.source.callees import is_call
from analyzers.source.edits import Editor
from analyzers.source.project import Module, Project

_WRAPPERS = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.DDP")


def _wrappers(project: Project) -> Iterator[tuple[Module, ast.Call]]:
    for module, call in project.each(ast.Call):
        if is_call(call, *_WRAPPERS):
            yield module, call


def all_used(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal for DDP without `find_unused_parameters`."""
    for module, call in _wrappers(project):
        for edit in without_true(Editor(module), call, "find_unused_parameters"):
            yield Proposal("all-used", "Do not count parameters as unused", (edit,), "", 1)


def static_graph(_: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that declares to DDP that every iteration is alike."""
    for module, call in _wrappers(project):
        edit = with_keyword(Editor(module), call, "static_graph")
        title = "Tell DDP that every iteration is alike"
        tradeoff = "It is right only if every iteration uses the same parameters in the same way."
        yield Proposal("static-graph", title, (edit,), tradeoff, 2)
