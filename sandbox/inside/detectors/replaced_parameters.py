"""Finds what learns in the place of what an optimizer holds: it was replaced once that was made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from ..core.frames import Json
from ..core.parameters import KnownParameter
from .details import LISTED, LOADED, PLAIN
from .graph_depth import GROWTH
from .module_parameters import modules

MOST = 64  # names that are recorded


def left_out(known: Sequence[KnownParameter], stepped: Mapping[int, int]) -> Json:
    """Return parameters with gradients that no optimizer holds: of the same names as others that
    lost theirs, later than the optimizer, or in a plain list."""
    return replaced(known, stepped) or added(known, stepped) or unlisted(known, stepped)


def replaced(known: Sequence[KnownParameter], stepped: Mapping[int, int]) -> Json:
    """Return parameters of an optimizer that lost their gradients to others of the same names.

    Those others have no optimizer and nobody moves them; what is recreated in each iteration may be
    a copy, unless the optimizer goes on with nothing. `stepped`: the last step of each optimizer.
    """
    by_name = {one.name: one for one in _learning(known, recreated=True)}
    old = list[KnownParameter]()
    for one in known:
        fed = by_name.get(one.name)
        if one.optimizer is not None and fed is not None and one.fed_until <= fed.fed_from:
            steps = stepped.get(one.optimizer, 0) - fed.fed_from
            if steps >= (GROWTH if _is_recreated(fed) else 1):
                old.append(one)
    return replacement_report(old, [by_name[one.name] for one in old])


def added(known: Sequence[KnownParameter], stepped: Mapping[int, int]) -> Json:
    """Return parameters that a model got after its optimizer, with gradients and no step."""
    by_optimizer = dict[int, list[KnownParameter]]()
    for one in _learning(known):
        siblings = [k for k in known if k.id in one.kin and k.optimizer is not None]
        siblings = [k for k in siblings if _learns_with(k, one, stepped)]
        if siblings and siblings[0].optimizer is not None and not one.read:
            by_optimizer.setdefault(siblings[0].optimizer, []).append(one)
    for owner, fed in by_optimizer.items():
        held = [k for k in known if k.optimizer == owner and k.taken]
        found = replacement_report(held, fed)
        return {**found, "params": []} if found else {}
    return {}


def unlisted(known: Sequence[KnownParameter], stepped: Mapping[int, int]) -> Json:
    """Return parameters in a plain list of a module, or its plain tensor, with gradients and no
    step.

    Optimizers must have all parameters that the module knows of: it does not know those.
    """
    entries = defaultdict[str, list[KnownParameter]](list)
    for one in _learning(known):
        if "." in one.name.partition("[")[0] and ("[" in one.name or one.listed_by):
            entries[one.name.partition("[")[0]].append(one)
    for name, fed in entries.items():
        several = name == fed[0].name or len({one.name.partition("]")[0] for one in fed}) > 1
        siblings = [k for k in known if k.id in fed[0].listed_by]
        steps = max((stepped.get(k.optimizer or 0, 0) for k in siblings), default=0)
        trained = bool(siblings) and all(k.optimizer is not None for k in siblings)
        if several and trained and steps > fed[0].fed_from and not any(k.read for k in fed):
            found = replacement_report(siblings, fed)
            detail = PLAIN if name == fed[0].name else LISTED
            return {**found, "params": [], "detail": detail} if found else {}
    return {}


def unheld(
    known: Sequence[KnownParameter],
    stepped: Mapping[int, int],
    unused: Sequence[KnownParameter] = (),
) -> Json:
    """Return parameters of modules that get gradients and that no optimizer holds.

    Optimizers step others meanwhile. Only the source shows whether they are meant to stay as they
    are; those that the script has loaded come last, as they mostly are. A part of a module is no
    finding: its other parameters are replaced in a call. Next to parameters of an optimizer that
    nothing uses, only what takes the same inputs counts: it does their work.
    """
    last = max(stepped.values(), default=0)
    fed = [one for one in _learning(known) if "." in one.name and not one.read]
    fed = _of_whole_modules([one for one in fed if last - one.fed_from >= GROWTH])
    fed = _in_the_place_of(unused, fed) if unused else fed
    fresh = [one for one in fed if not one.loaded]
    fed, detail = (fresh, "") if fresh else (fed, LOADED)
    held = [one for one in known if one.optimizer is not None and one.taken and one.receipts]
    roots = {one.name.partition(".")[0] for one in fed}
    held.sort(key=lambda one: (one.name.partition(".")[0] not in roots, _gap(one, fed)))
    found = replacement_report(held[:1], fed) if held else {}
    figures = [float(len(found.get("instead", ())))]
    return {**found, "params": [], "detail": detail, "figures": figures} if found else {}


def _gap(held: KnownParameter, fed: Sequence[KnownParameter]) -> int:
    """Return by how many more backward calls, or fewer, one was given a gradient than the others:
    what is trained together gets them together."""
    return min((abs(one.receipts - held.receipts) for one in fed), default=0)


def _in_the_place_of(
    unused: Sequence[KnownParameter], fed: Sequence[KnownParameter]
) -> list[KnownParameter]:
    """Return those of modules whose weight takes as many inputs as an unused one."""
    inputs = [one.shape[1:] for one in unused if len(one.shape) > 1]
    modules = {one.name.rpartition(".")[0] for one in fed if one.shape[1:] in inputs}
    return [one for one in fed if one.name.rpartition(".")[0] in modules]


def _of_whole_modules(fed: Sequence[KnownParameter]) -> list[KnownParameter]:
    """Return those whose module has no parameters but these."""
    by_tensor = {id(tensor): one.id for one in fed if (tensor := one.tensor()) is not None}
    parts = set[int]()
    for module in modules() if by_tensor else ():
        own = [id(one) for one in module._parameters.values() if one is not None]
        if not all(key in by_tensor for key in own):
            parts |= {by_tensor[key] for key in own if key in by_tensor}
    return [one for one in fed if one.id not in parts]


def _learns_with(held: KnownParameter, one: KnownParameter, stepped: Mapping[int, int]) -> bool:
    """Return True if the optimizer of one parameter is older than another parameter and still
    steps.

    A frozen parameter counts as stepped.
    """
    assert held.optimizer is not None
    tensor = held.tensor()
    frozen = tensor is not None and not tensor.requires_grad
    steps = stepped.get(held.optimizer, 0) - one.fed_from
    learns = frozen or held.fed_until >= one.fed_from
    return one.born > held.optimizer and learns and steps >= GROWTH


def learning_instead(
    known: Sequence[KnownParameter],
    without_gradient: Sequence[KnownParameter],
    stepped: Mapping[int, int],
) -> Json:
    """Return what gets gradients in place of an optimizer's parameters: others of the same names,
    else leaves that may hold their weights."""
    return replaced(known, stepped) or _replaced_by_leaves(known, without_gradient, stepped)


def _replaced_by_leaves(
    known: Sequence[KnownParameter],
    without_gradient: Sequence[KnownParameter],
    stepped: Mapping[int, int],
) -> Json:
    """Return leaves with a gradient that may hold the weights of all trained parameters without
    one.

    Nobody steps them. They are of the same shapes, a stack of such, or all in one row.
    """
    owners = {one.optimizer for one in without_gradient if one.optimizer is not None}
    last = max((stepped.get(owner, 0) for owner in owners), default=0)
    shapes = [one.shape for one in without_gradient]
    row = [sum(map(prod, shapes))]
    fed = [one for one in _learning(known) if one.fed_from < last]
    fed = [one for one in fed if one.shape in [*shapes, row] or one.shape[1:] in shapes]
    held = [shape for one in fed for shape in (one.shape, one.shape[1:])]
    return replacement_report(
        without_gradient, fed if row in held or all(one in held for one in shapes) else []
    )


def _learning(
    known: Iterable[KnownParameter], *, recreated: bool = False
) -> Iterator[KnownParameter]:
    """Yield leaves that go on getting gradients, and that neither an optimizer nor the script
    steps.

    A copy that is recreated in each iteration (`recreated`) only counts if asked for.
    """
    for one in known:
        if one.optimizer is None and one.receipts >= GROWTH and one.name:
            one.look()
            if not (one.moved or one.has_namesake) and (recreated or not _is_recreated(one)):
                yield one


def _is_recreated(one: KnownParameter) -> bool:
    return 4 * one.renewals >= one.receipts


def replacement_report(old: Sequence[KnownParameter], fed: Sequence[KnownParameter]) -> Json:
    """Return what an optimizer has, and what came in its place; empty if nothing did."""
    taken = next((one.taken for one in old if one.taken), None)
    if not fed or taken is None:
        return {}
    params = list(dict.fromkeys(one.name for one in old if one.name))
    instead = list(dict.fromkeys(one.name for one in fed))
    return {"params": params[:MOST], "instead": instead[:MOST], "optimizer_at": taken}
