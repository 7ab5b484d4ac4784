"""The phrases that describe the events of a cause, family by family."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """The phrases of a family of faults for its events: created, freed, carried, used again."""

    made: tuple[str, str]
    freed: tuple[str, str]
    carried: tuple[str, str]
    reached: tuple[str, str]


WORDS: dict[str, Words] = {
    "graph-reuse": Words(
        made=("builds the graph", "builds the graph"),
        freed=("frees that graph", "frees the graph"),
        carried=("still points to that graph", "keeps it"),
        reached=("needs the freed graph again: the error", "needs it again: error"),
    ),
    "kept-graph": Words(
        made=("builds the graph", "builds the graph"),
        freed=("goes through the graph, and keeps it", "keeps the graph"),
        carried=("still points to that graph", "keeps it, too"),
        reached=(
            "goes through it again, with weights that were changed since",
            "goes through it again",
        ),
    ),
    "inplace": Words(
        made=("computes something whose backward will need this value", "needs this value later"),
        freed=("changes the value in place", "changes it in place"),
        carried=("is the value that was changed", "the changed value"),
        reached=("needs the old value, which is gone: the error", "needs the old value: error"),
    ),
    "stepped": Words(
        made=("computes with weights that its backward will need", "needs these weights later"),
        freed=("changes these weights in place", "changes the weights"),
        carried=("holds the graph with the old weights", "holds the old graph"),
        reached=(
            "needs the old weights, which are gone: the error",
            "needs the old weights: error",
        ),
    ),
    "no-grad": Words(
        made=("gives the value", "gives the value"),
        freed=("cuts the value from its graph", "cuts the graph"),
        carried=("has no graph behind it", "has no graph"),
        reached=("needs a graph, and there is none: the error", "needs a graph: error"),
    ),
    "graphs": Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("keeps the graph of every iteration", "keeps every graph"),
        reached=("adds one more graph in every iteration", "one more graph each iteration"),
    ),
    "gradients": Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("never clears its gradients", "never clears gradients"),
        reached=("uses the sum of all iterations so far", "uses the sum of all iterations"),
    ),
    "cleared": Words(
        made=("computes the value", "computes it"),
        freed=("is where it is lost", "lost here"),
        carried=("finds no gradient at its step", "finds no gradient"),
        reached=("gives gradients, which are cleared before the step", "gives gradients"),
    ),
    "unstepped": Words(
        made=("computes the value", "computes it"),
        freed=("is where it is lost", "lost here"),
        carried=("never steps", "never steps"),
        reached=("gives gradients, which no step uses", "gives gradients"),
    ),
    "derivative": Words(
        made=("computes the value", "computes it"),
        freed=("is where it is lost", "lost here"),
        carried=("is not the numerical gradient", "is not the numerical gradient"),
        reached=("is the function that computes it", "computes it"),
    ),
    "starved": Words(
        made=("computes the value", "computes it"),
        freed=("is where it is lost", "lost here"),
        carried=("lets no gradient through", "lets no gradient through"),
        reached=("finds no way to these parameters", "finds no way there"),
    ),
    "held-others": Words(
        made=("makes the optimizer, of the tensors of that time", "takes the tensors of that time"),
        freed=("is where it is lost", "lost here"),
        carried=("gets the gradients, and no optimizer holds it", "is held by no optimizer"),
        reached=("gives its gradients to other tensors", "gives gradients to others"),
    ),
    "overwritten": Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("is the gradient itself, not a copy", "keeps the gradient itself"),
        reached=("adds into that gradient, in place", "changes it in place"),
    ),
    "silent": Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("is the value to look at", "the value"),
        reached=("shows it", "shows it"),
    ),
    "message": Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("is what the error is about", "is what the error is about"),
        reached=("raises the error", "raises the error"),
    ),
}

NOT_CUT = {
    "nonleaf": ("computes it: no leaf", "is no leaf", "reads a gradient that is not kept"),
    "rebound": ("computes it again: no leaf", "is no leaf any more", "needs a leaf"),
    "non_scalar": ("gives many numbers, not one", "is not one number", "needs one number: error"),
    "numpy": ("gives it a graph", "has a graph", "cannot take a graph: error"),
    "unused": ("makes it; gets no gradient here", "gets no gradient", "finds none of it: error"),
}
"""Where the graph was never cut: what a line does, what the value is, what fails, by operation."""
