"""Where a reading starts: the entry script, then the functions that nothing calls."""

from __future__ import annotations

import ast
import re

from analyzers.reading import calling, classes, frameworks, importing, slicing, suspicion
from analyzers.reading.budget import OutOfBudgetError
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.values import AbstractValue, Class, FunctionValue, Instance, Unknown
from analyzers.source.project import Project
from analyzers.source.trees import walk

_TRAINING = frozenset({"backward", "grad", "manual_backward", "step"})
STEPS_ALONE = 6_000
_MODEL_METHOD = re.compile(
    r"\.(?:named_parameters|parameters|load_state_dict|state_dict|zero_grad)\b"
)
_CLONE = re.compile(r"\b(?P<name>\w{1,80}) = (?:[\w.]{1,80}\.)?(?P<learner>\w{1,80})\.clone\(")
_LAST_WORD = re.compile(r"\w{1,80}$")


def mentions_backward(project: Project) -> bool:
    """Return True if any file mentions a backward call: without one there is nothing to find."""
    words = ("backward", "backprop", "grad(", *frameworks.TRAINERS)
    return any(word in text for text in project.files.values() for word in words)


def model_names(project: Project) -> frozenset[str]:
    """Return names (last parts) of what parameters are taken from somewhere: models."""
    found = {
        name[0]
        for text in project.files.values()
        for call in _MODEL_METHOD.finditer(text)
        if (name := _LAST_WORD.search(text, max(call.start() - 80, 0), call.start()))
    }
    return frozenset(found - {"self", "optimizer", "opt", "optim", "scheduler"})


def cloned_learners(project: Project) -> frozenset[str]:
    """Return names (last parts) of what is cloned, where the clone adapts itself: meta-learners, of
    which each parameter is an operation's result in the clone."""
    found = set[str]()
    for text in project.files.values():
        for clone in _CLONE.finditer(text) if ".clone(" in text and ".adapt(" in text else ():
            if re.search(rf"\b{clone['name']}\.adapt\(", text):
                made = rf"\b{clone['learner']} = (?:[\w.]{{1,80}}\.)?(\w{{1,80}})\("
                found |= {clone["learner"], *re.findall(made, text)}
    return frozenset(found)


def run(machine: Machine, reruns: tuple[tuple[int, int], ...] = ()) -> None:
    """Execute the entry as `__main__`, cells that ran again, the other files, then uncalled
    functions."""
    project = machine.project
    if project.entry in project.parsed:
        importing.module_frame(machine, project.entry, "__main__")
        for first, last in reruns:
            _run_again(machine, first, last)
    for path in project.parsed:
        importing.module_frame(machine, path, path.removesuffix(".py").replace("/", "."))
    for frame in list(machine.modules.values()):
        if machine.suspecting:
            suspicion.live(machine, frame, _call_alone)
        else:
            _uncalled(machine, frame)


def run_otherwise(machine: Machine, undecided: set[ast.stmt | None]) -> None:
    """Execute the entry once more with other arms.

    If outermost statements of the entry contain all arms, only statements related to those run.
    """
    module = machine.project.parsed.get(machine.project.entry)
    wanted = {statement for statement in undecided if statement is not None}
    if module is None or len(wanted) < len(undecided):
        run(machine)
        return
    body = module.tree.body
    library = {statement for statement in body if importing.is_library(machine, statement)}
    only = slicing.related(body, wanted, library)
    importing.module_frame(machine, machine.project.entry, "__main__", only)


def _run_again(machine: Machine, first: int, last: int) -> None:
    module = machine.project.parsed.get(machine.project.entry)
    frame = machine.modules[machine.project.entry]
    if module is not None:
        body = [s for s in module.tree.body if first <= s.lineno <= last]
        machine.execute(body, frame)


def _uncalled(machine: Machine, frame: InterpreterFrame) -> None:
    for value in list(frame.names.values()):
        if isinstance(value, FunctionValue) and value.frame is frame:
            if _untouched(machine, value):
                _call_alone(machine, value, [], frame)
        elif isinstance(value, Class) and value.frame is frame:
            _uncalled_methods(machine, value, frame)


def _untouched(machine: Machine, function: FunctionValue) -> bool:
    return id(function.definition) not in machine.entered and _mentions_backward(function)


def _mentions_backward(function: FunctionValue) -> bool:
    for node in walk(function.definition):
        if isinstance(node, ast.Attribute) and node.attr in _TRAINING:
            return True
        if isinstance(node, ast.Name) and node.id == "grad":
            return True
    return False


def _call_alone(
    machine: Machine,
    function: FunctionValue,
    first: list[Unknown | Instance],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a function for arguments of which nothing is known."""
    machine.assumed.clear()
    machine.grad = True
    left = machine.steps
    machine.steps = min(left, STEPS_ALONE)
    given = machine.steps
    try:
        return calling.call_function(machine, function, list(first), {}, frame)
    except OutOfBudgetError:
        machine.gave_up(f"{function.name}: too long to follow to its end")
        machine.active.clear()
        return Unknown()
    finally:
        machine.steps = left - (given - max(machine.steps, 0))


def _uncalled_methods(machine: Machine, cls: Class, frame: InterpreterFrame) -> None:
    """Call methods that run backward and that nothing calls: on a fresh instance, several times."""
    if classes.is_autograd_function(cls) or cls.engine:
        return
    frameworks.train(machine, cls, frame)
    for value in list(cls.attrs.values()):
        if not isinstance(value, FunctionValue) or not _untouched(machine, value):
            continue
        machine.assumed.clear()
        instance = classes.instantiate(machine, cls, [], {}, frame)
        if not isinstance(instance, Instance):
            continue
        for _ in range(3):
            before = [v for v in instance.attrs.values() if v.node is None]
            _call_alone(machine, value, [instance], frame)
            _forget_unseen(instance, before)


def _forget_unseen(instance: Instance, before: list[AbstractValue]) -> None:
    """Forget attributes that this method did not set, since others may set them between two
    calls."""
    instance.attrs = {
        name: value
        for name, value in instance.attrs.items()
        if not isinstance(value, Unknown)
        or (name in instance.logs and not any(value is old for old in before))
    }
