"""Decide what computes a carrier's value: a model called on data, or parameters alone."""

from __future__ import annotations

import ast
import builtins

from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.source.callees import creates_object, in_library, is_call, own_name
from analyzers.source.calls import asks_for_gradient
from analyzers.source.flow import bindings, mentions, names_read, value_of
from analyzers.source.project import Project, spelled
from analyzers.source.trees import nodes_of


def built_by_a_module(story: ReuseFeatures) -> bool:
    """Return True if the carrier's value comes from calling a model on data."""
    for _, _, statement in story.binders:
        value = value_of(statement)
        if value is None:
            continue
        for node in nodes_of(value, ast.Call):
            if node.args and _calls_an_object(story.project, node):
                if any(not _is_parameter(story, argument) for argument in node.args):
                    return True
                return not _forward_in_loop(story)
    return False


def of_parameters_alone(story: ReuseFeatures) -> bool:
    """Return True if what the loop iterates over is computed without data and each iteration steps:
    its iterations are batches, not samples of one batch.
    """
    values = [value for _, _, statement in story.binders if (value := value_of(statement))]
    return (
        story.steps_inside
        and bool(values)
        and all(
            isinstance(value, ast.Call) and not value.args and not value.keywords
            for value in values
        )
    )


def _forward_in_loop(story: ReuseFeatures) -> bool:
    """Return True if the loop has a forward pass of its own to which the
    carrier is only an input.
    """
    return story.loop is not None and any(
        any(names_read(argument) for argument in node.args)
        and not in_library(node)
        and not (isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id))
        and not any(mentions(argument, story.name) for argument in node.args)
        for statement in story.loop.body
        for node in nodes_of(statement, ast.Call)
    )


def _calls_an_object(project: Project, call: ast.Call) -> bool:
    """Return True for `model(x)` or `self.encoder(x)`, not for `torch.exp(x)`, `F.relu(x)`,
    `x.pow(2)` or a plain function of the script.
    """
    text = spelled(call.func)
    if in_library(call) or hasattr(builtins, text) or creates_object(call):
        return False
    if any(True for _ in project.functions_by_name(text)):
        return False
    owner = text.rpartition(".")[0]
    named = isinstance(call.func, ast.Name) or owner.split(".")[0] == "self"
    return named or _is_constructed(project, owner)


def _is_constructed(project: Project, name: str) -> bool:
    """Return True if the name, or what it is a part of, is bound to the
    result of calling a class.
    """
    bound = [value_of(node) for _, node in project.each(ast.stmt) if name in bindings(node)]
    if not bound and "." in name:
        return _is_constructed(project, name.rpartition(".")[0])
    return any(
        isinstance(value, ast.Call)
        and creates_object(value)
        and not _is_record(project, own_name(value))
        for value in bound
    )


def _is_record(project: Project, name: str) -> bool:
    """Return True if the class of this name only holds data."""
    return any(
        node.name == name
        and any("dataclass" in spelled(decorator) for decorator in node.decorator_list)
        for _, node in project.each(ast.ClassDef)
    )


def _is_parameter(story: ReuseFeatures, argument: ast.expr) -> bool:
    """Return True if an argument is itself a parameter: a leaf that the
    script made to be trained.
    """
    if any(n.attr == "weight" for n in nodes_of(argument, ast.Attribute)):
        return True
    name = spelled(argument)
    return any(
        name in bindings(node)
        and (value := value_of(node)) is not None
        and any(
            (is_call(inner, "torch.nn.Parameter") or asks_for_gradient(inner))
            for inner in nodes_of(value, ast.Call)
        )
        for _, node in story.project.each(ast.stmt)
    )
