"""What a value is that the text uses and does not define: from its uses, then from its name."""

from __future__ import annotations

import re

import torch

from .plan import ValuePlan
from .reading import Uses
from .uses import SAME, WRAPPERS, ValueUse, with_any_item

_TENSOR = (
    {name for name in dir(torch.Tensor) if not name.startswith("_")} | SAME | {"shape", "grad"}
) - {"backward", "step", "index", "name", "names", "is_shared", "apply_", "map_", "train", "eval"}
_OF_MODULES = frozenset(
    {
        *("parameters", "named_parameters", "state_dict", "load_state_dict", "modules"),
        *("zero_grad", "train", "eval", "apply", "forward", "children", "named_modules"),
    }
)
_WITH_PARAMETERS = frozenset({"parameters", "named_parameters", "state_dict", "load_state_dict"})
_OPTIMIZERS = frozenset(
    name for name, kind in vars(torch.optim).items() if isinstance(kind, type) and name[0].isupper()
) | {"clip_grad_norm_", "clip_grad_norm", "clip_grad_value_"}
_READERS = frozenset(
    {"from_pretrained", "loadtxt", "genfromtxt", "open", "read_csv", "imread"}
    | {"torch.load", "np.load", "numpy.load"}  # `pickle.load` takes an open file
)
_RUNNERS = re.compile(r"accelerator|fabric|engine|trainer|amp$|scaler|self$|ctx$|tape$")
_OPTIMIZER = re.compile(r"opt|adam|sgd|solver|rmsprop|_d$|_g$")
_CRITERION = re.compile(r"loss|crit(?!ic)|bce|mse|^ce$|xent|entropy|nll|objective|penalty")
_MODULE = re.compile(
    r"net|model|encod|decod|gen|disc|actor|critic|policy|rnn|lstm|gru|embed|attention|layer|conv"
    r"|fc|linear|head|tower|mlp|classif|backbone|bert|transformer|student|teacher|agent|vae|gan|block|proj|online"
)
_LOADER = re.compile(r"load|dataset|batches|_dl$|^dl$|train_data|iterator")
_SETTINGS: tuple[tuple[str, float], ...] = (  # names that no tensor has
    (r"^lr|_lr$|learning_?rate|^eta$", 1e-3),
    (r"warm_?up|burn_?in|learning_?starts|start_(steps|train|learn)", 1),
    (r"epoch", 2),  # so that what follows all of them is reached, too
    (r"iters?$|iterations|max_steps|num_steps|n_steps|episodes|n_critic", 3),
    (r"batch_?size|^bs$", 4),
    (r"(num|n)_?(layers|heads|blocks)", 2),
    (r"(num|n)_?\w*(class|token|action|label|categor)|vocab_?size|ntoken", 8),
    (r"max_?len|seq_?(len|length)|time_?steps|horizon|bptt|window", 2),
    (
        r"dropout|alpha|beta|epsilon|^eps$|lambda|lamda|decay|gamma|^tau$|coef|_scale$|^scale$|_ratio$",
        0.1,
    ),
    (r"^[hdvecmn]$|^n_?(in|out|hid|hidden|inputs?|outputs?|units|feat\w*)$", 8),
    (r"kernel_?size|ksize|^k$", 3),
    (r"stride|padding|dilation|groups|bias$", 1),
    (r"(hidden|embed|input|output|state|action|latent|noise|feature)\w*_?(dim|size|units)", 8),
    (r"\w_(dim|size|width|channels|features)$|^(dim|size|width|nz|nhid|ninp|units)$", 8),
    (r"^(num|n)_\w|^n[a-z]$|_freq$|_interval$|_every$|_steps?$", 3),
)
_FACTOR = re.compile(r"lambda|lamda|coef|decay|_ratio$|_scale$|(^|_)(alpha|beta|gamma|tau|eps|lr)$")
_NUMBERS: tuple[tuple[str, float], ...] = (
    *_SETTINGS,
    (r"vocab|class|token|action|hidden|embed|dim|size|width|channel|feature|latent|in|out", 8),
    (r"drop|prob|weight|clip|scale|ratio|smoothing", 0.1),
)
_OF_SETTINGS = re.compile(r"^(cfg|conf|config|configs|args|hparams|hp|settings|flags|params)$")
_DATA = re.compile(
    r"^x|^y|^z$|input|target|label|image|img|data|batch|real|fake|hidden|state|obs|output|pred|out$"
    r"|logit|noise|feat|mask|tensor|src|tgt|seq|^h\d?$|^c\d?$|reward|prob|grad|mean|std|mu|logvar"
)
_OBSERVED = re.compile(r"(^|_)(real|gt|labels?)(_[a-z\d])?$")  # `real_A`, where `fake_A` is made
_CUTTING = re.compile(r"detach|repackage|stop_?grad")
_SWITCHED_OFF = re.compile(
    r"cuda|gpu|debug|verbose|resume|distributed|parallel|fp16|amp|half|eval|test"
)


def plain_name(path: str) -> str:
    """Return the last word of a path: `opt` of `self.opt`, `loader` of `loader[][0]`."""
    words: list[str] = re.findall(r"\w+", re.sub(r"\[\d*\]|\(\)", "", path))
    return words[-1] if words else ""


def is_cutting(path: str) -> bool:
    """Return True if a function, by its name, returns its argument without its graph."""
    return bool(_CUTTING.search(plain_name(path).lower()))


def is_loaded(path: str) -> bool:
    """Return True if it is a part of a loader's items: data, without a graph."""
    return "[" in path and bool(_LOADER.search(plain_name(path.partition("[")[0]).lower()))


def is_observed(path: str) -> bool:
    """Return True if it is data, without a graph, by its own name or as a part of a loader's."""
    return is_loaded(path) or bool(_OBSERVED.search(plain_name(path).lower()))


def number(path: str) -> float | int:
    """Return a plausible value of a setting, by its name."""
    name = plain_name(path).lower()
    return next((value for pattern, value in _NUMBERS if re.search(pattern, name)), 4)


def _bound_name(path: str, use: ValueUse) -> str:
    """Return the name that the script binds an item or a call's result to."""
    return min(use.names) if use.names and path[-1:] in "])" else ""


def has_tensor(attribute: str) -> bool:
    """Return True if tensors have an attribute."""
    return attribute in _TENSOR


def is_tensor_like(use: ValueUse) -> bool:
    return bool(use.asked & _TENSOR)


def no_tensors_methods(use: ValueUse) -> set[str]:
    """Return the methods that the text calls and no tensor has."""
    return use.methods - _TENSOR


def is_used_as_data(use: ValueUse) -> bool:
    return use.factor or use.indexed or bool(use.called) or is_tensor_like(use)


def is_no_tensor(use: ValueUse) -> bool:
    return bool(use.asked - _TENSOR)


def role(path: str, uses: Uses, plan: ValuePlan) -> str:
    """Return the method of a harness that makes the value: `module`, `tensor`, `number`, …"""
    for one in with_any_item(path):
        if one in plan.kinds:
            return plan.kinds[one]
    use = uses.known(path)
    name = (_bound_name(path, use) or plain_name(path)).lower()
    if name == "device" or (use.device and not is_used_as_data(use) and "type" not in name):
        return "device"
    if use.sizes:
        return "sizes"
    if use.given_to & _READERS and not is_used_as_data(use):
        return "file"
    if _is_table(path, uses):
        return "table"
    if use.iterated and uses.known(f"{path}[]").key:
        return "words"
    if use.indexed and not use.iterated and is_no_tensor(uses.known(f"{path}[]")):
        return "holder"  # of several such
    if name in ("self", "cls", "ctx") or use.base or use.mapping or use.context:
        return "holder"
    return _by_methods(use, name) or _by_calls(path, use, name, uses) or _by_rest(path, use, name)


def _is_table(path: str, uses: Uses) -> bool:
    """Return True if a tensor is made of its `.values`, or of a column's.

    A column by key needs no more than to have them.
    """
    for inner, use in uses.of.items():
        if "values" in use.asked - use.methods:
            column = inner.removeprefix(path)
            if inner.startswith(f"{path}["):
                return True
            if inner in (path, f"{path}.{plain_name(column)}"):
                if uses.known(f"{inner}.values").given_to & WRAPPERS:
                    return True
    return False


def _by_methods(use: ValueUse, name: str) -> str | None:
    methods = use.methods
    if {"append", "extend"} & methods and not use.called:
        return "list"
    runs_others = _RUNNERS.search(name) or no_tensors_methods(use) - {"backward", "zero_grad"}
    if "backward" in methods and not runs_others:
        return "loss"
    stepped = "step" in methods and (_OPTIMIZER.search(name) or "zero_grad" in methods)
    cleared = "zero_grad" in methods and _OPTIMIZER.search(name) and not _MODULE.search(name)
    if (stepped or cleared) and not use.called and "parameters" not in methods:
        return "optimizer"
    if {"step", "update"} & methods:
        return "holder"
    if not use.called and (methods & _OF_MODULES) and not is_tensor_like(use):
        return "module"
    return None


def _by_calls(path: str, use: ValueUse, name: str, uses: Uses) -> str | None:
    if not use.called:
        return None
    result = uses.known(path + "()")
    if use.methods & _WITH_PARAMETERS:
        return "module"
    entered = result.called or result.iterated or result.context
    made = bool(entered or result.methods & (_OF_MODULES | {"step"}))
    of_class = plain_name(path)[:1].isupper() and len(plain_name(path)) > 2
    if made or (of_class and path[-1:] != ")"):
        return "maker"
    if _CRITERION.search(name):
        return "criterion"
    if use.methods & _OF_MODULES or _MODULE.search(name) or len(name) == 1:
        return "module"
    if any(_OPTIMIZER.search(plain_name(p).lower()) and goes_with(p, path) for p in uses.of):
        return "module"
    if any(call.args or call.keywords for call in use.called):
        return "function"
    return "maker"


def _is_setting(path: str, use: ValueUse) -> bool:
    """Return True for a program's setting (`cfg.entropy_weight`) that is used as a number."""
    home = path.rpartition(".")[0]
    used_so = use.factor or use.number or use.summed
    no_number = use.asked or use.keys or use.indexed or use.iterated
    return bool(_OF_SETTINGS.match(plain_name(home).lower())) and used_so and not no_number


def _by_rest(path: str, use: ValueUse, name: str) -> str:
    if _is_setting(path, use):
        return "number"
    if use.summed and not is_tensor_like(use):
        return "zero"
    if use.iterated and not is_tensor_like(use):
        return "batches"
    if use.keys or (use.asked - _TENSOR and not use.asked & (_TENSOR - SAME)):
        return "holder"
    if no_tensors_methods(use):  # whatever else of it is called as a tensor's methods are
        return "holder"
    if is_tensor_like(use):
        return "tensor"
    if use.given_to & _OPTIMIZERS and not path.endswith(")"):
        return "weights"
    named_so = any(re.search(pattern, name) for pattern, _ in _SETTINGS)
    named_so |= any(map(_FACTOR.search, use.keywords))
    if named_so and not is_tensor_like(use) and not (is_loaded(path) or "[]" in path):
        return "number"
    if "lr" in use.given_to or (use.number and not (_DATA.search(name) and use.data)):
        return "number"
    if use.data and not (_OPTIMIZER.search(name) or _MODULE.search(name) or _LOADER.search(name)):
        return "tensor"
    if use.tested:
        return "flag"
    return _by_name(path, use, name)


def _by_name(path: str, use: ValueUse, name: str) -> str:
    if _LOADER.search(name) and not path.endswith("]"):
        return "batches"
    if re.search(r"optim|^opt", name):
        return "optimizer"
    if _CRITERION.search(name):
        return "loss" if "loss" in name else "criterion"
    if _MODULE.search(name) and not path.endswith("]"):
        return "module"
    if use.data or use.indexed or _DATA.search(name) or path.endswith("]"):
        return "tensor"
    return "holder"


def switched_off(path: str) -> bool:
    """Return True if a flag of this name is better left off in a small run."""
    return bool(_SWITCHED_OFF.search(plain_name(path).lower()))


def goes_with(optimizer: str, model: str) -> bool:
    """Return True if an optimizer's name resembles a model's: `optD` and `netD`."""
    ours = of_optimizer(optimizer)
    theirs = _letters(model, "net|model")
    return bool(ours and theirs) and (ours.startswith(theirs) or theirs.startswith(ours))


def of_optimizer(path: str) -> str:
    """Return what an optimizer's name says of its model: `d` of `self.optimizer_D`."""
    return _letters(path, "optimizer|optimiser|optim|opt|solver|trainer")


def _letters(name: str, without: str) -> str:
    return re.sub(rf"self|{without}|[^a-z]", "", plain_name(name).lower())
