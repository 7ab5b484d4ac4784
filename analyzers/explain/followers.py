"""Networks that follow another one: made as its copy, or given its state."""

from __future__ import annotations

import ast

from analyzers.source.flow import called_name
from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned_pairs


def followers(project: Project) -> set[str]:
    """The names of such networks: `self.target = copy.deepcopy(self.net)`, and those of
    `target.load_state_dict(net.state_dict())`."""
    found = {
        spelled(target)
        for _, statement in project.each(ast.Assign)
        for target, value in assigned_pairs(statement)
        if isinstance(value, ast.Call) and called_name(value) == "deepcopy"
    }
    for _, call in project.each(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict":
            if any(isinstance(a, ast.Call) and called_name(a) == "state_dict" for a in call.args):
                found.add(spelled(call.func.value))
    return found


def is_of_follower(parameter: str, project: Project) -> bool:
    """Whether a parameter, by its name, is that of such a network."""
    own = {name.rpartition(".")[2] for name in followers(project)}
    return not own.isdisjoint(parameter.split("."))
