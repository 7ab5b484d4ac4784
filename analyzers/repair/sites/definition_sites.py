"""Find the definition sites of values that a later iteration still found."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.explain.reuse.execution_counts import fills_cache
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.source.project import Module, Scope
from provenance import Binding


@dataclass(frozen=True)
class DefinitionSite:
    """A statement that computed a value, the value's name there, and the `if` that kept it from
    running again.
    """

    module: Module
    scope: Scope
    statement: ast.stmt
    name: str
    guard: ast.If | None = None


def makings(story: ReuseFeatures) -> Iterator[DefinitionSite]:
    """Yield where each carried value was first named: as a run has seen it; else what binds it."""
    known: set[ast.stmt] = set()
    for binding, module, statement in story.first_named:
        if statement in known:
            continue
        known.add(statement)
        guard = fills_cache(module, statement) if _entered_again(story, binding) else None
        if guard is None and story.attribute:  # what asks for it by name
            guard = fills_cache(module, statement, story.attribute)
        yield DefinitionSite(module, module.scope_of(statement), statement, binding.name, guard)
    for module, scope, statement in story.binders:
        if statement not in known:
            own = f"self.{story.attribute}" if story.attribute else story.name
            guard = fills_cache(module, statement, story.attribute or story.name)
            yield DefinitionSite(module, scope, statement, own, guard)


def _entered_again(story: ReuseFeatures, making: Binding) -> bool:
    """Return True if the function that computed the value ran again and had it already."""
    return any(
        binding.how == "argument"
        and binding.at.function == making.at.function
        and binding.at.frame != making.at.frame
        for binding in story.reuse.path
    )
