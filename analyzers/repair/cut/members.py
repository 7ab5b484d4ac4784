"""States that are members of something: fields of a record, attributes of a module's layers."""

from __future__ import annotations

import re

from analyzers.explain.reuse.recordtypes import is_named_tuple_field, tensor_fields
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import indentation
from analyzers.repair.cut.detaching import Idiom, starts_as_none

_LAYER = re.compile(r"^(?P<owner>[^.\d]\w*(\.[^.\d]\w*)*)\.\d+\.(.+\.)?(?P<attribute>\w+)$")


def cut_fields(story: Story, name: str, idiom: Idiom) -> list[str]:
    """Statements that cut the tensors in a record's fields (`carry.core`) from their history; none
    where the carrier is no record."""
    paths = [holder.path for join in story.reuse.joins for holder in join.holders]
    fields = [p[len(name) + 1 :] for p in paths if p.startswith(name + ".")]
    fields = list(dict.fromkeys(field for field in fields if field.isidentifier()))
    if not fields or name == "self":
        return []
    fields += [f for f in tensor_fields(story.project, fields[0]) if f not in fields]
    if is_named_tuple_field(story.project, fields[0]):
        values = ", ".join(f"{field}={idiom.of(f'{name}.{field}')}" for field in fields)
        return [f"{name} = {name}._replace({values})"]
    return [f"{name}.{field} = {idiom.of(f'{name}.{field}')}" for field in fields]


def cut_layers(story: Story, name: str, idiom: Idiom) -> list[str]:
    """Statements that cut a state that layers keep (`net.layers.3.mem`), in all layers of that
    class; none for any other name."""
    found = _LAYER.match(name)
    if found is None:
        return []
    owner, attribute = found["owner"], found["attribute"]
    for module, _, statement in story.binders:
        kind = module.class_of(statement)
        if kind is not None:
            own = f"module.{attribute}"
            missing = f" and {own} is not None" if starts_as_none(kind, f"self.{attribute}") else ""
            step = indentation(module)
            return [
                f"for module in {owner}.modules():",
                f"{step}if isinstance(module, {kind.name}){missing}:",
                f"{2 * step}{own} = {idiom.of(own)}",
            ]
    return []
