"""Names that a text does not define, found as it asks for them."""

from __future__ import annotations

import builtins
import importlib
import sys
from types import ModuleType
from typing import Any

from .context import CurrentHarness
from .elided import CARRIED
from .engines import FLAGS
from .synthesized_values import SynthesizedValues

# What nearly every training script imports under these names: a module, or module:name.
USUAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "functional": "torch.nn.functional",
    "optim": "torch.optim",
    "autograd": "torch.autograd",
    "init": "torch.nn.init",
    "np": "numpy",
    "numpy": "numpy",
    "plt": "matplotlib.pyplot",
    "pd": "pandas",
    "torchvision": "torchvision",
    "transforms": "torchvision.transforms",
    "models": "torchvision.models",
    "datasets": "torchvision.datasets",
    "pl": "pytorch_lightning",
    "gym": "gym",
    "amp": "torch.cuda.amp",
    "Variable": "torch.autograd:Variable",
    "Function": "torch.autograd:Function",
    "Tensor": "torch:Tensor",
    "Parameter": "torch.nn:Parameter",
    "Module": "torch.nn:Module",
    "Dataset": "torch.utils.data:Dataset",
    "DataLoader": "torch.utils.data:DataLoader",
    "TensorDataset": "torch.utils.data:TensorDataset",
    "Categorical": "torch.distributions:Categorical",
    "Normal": "torch.distributions:Normal",
    "checkpoint": "torch.utils.checkpoint:checkpoint",
    "tqdm": "tqdm:tqdm",
    "deque": "collections:deque",
    "defaultdict": "collections:defaultdict",
    "namedtuple": "collections:namedtuple",
    "OrderedDict": "collections:OrderedDict",
    "partial": "functools:partial",
    "dataclass": "dataclasses:dataclass",
    "contextmanager": "contextlib:contextmanager",
    "xrange": "builtins:range",
    "unicode": "builtins:str",
    "Path": "pathlib:Path",
    "Image": "PIL.Image",
    "SummaryWriter": "torch.utils.tensorboard:SummaryWriter",
    "train_test_split": "sklearn.model_selection:train_test_split",
    "KFold": "sklearn.model_selection:KFold",
    **{
        name: f"sklearn.preprocessing:{name}"
        for name in ("StandardScaler", "MinMaxScaler", "LabelEncoder", "OneHotEncoder")
    },
    **{
        name: f"transformers:{name}"
        for name in ("AutoModel", "AutoTokenizer", "BertModel", "BertTokenizer")
    },
    **{name: f"torch.func:{name}" for name in ("functional_call", "jacfwd", "jacrev", "vmap")},
    **{name: f"functorch:{name}" for name in ("make_functional", "make_functional_with_buffers")},
    **{name: f"torch.optim:{name}" for name in ("Adam", "AdamW", "SGD", "RMSprop", "LBFGS")},
    **{name: f"typing:{name}" for name in ("Any", "Callable", "Dict", "List", "Optional", "Tuple")},
    **{name: name for name in ("math", "os", "random", "sys", "time", "copy", "json", "re")},
    **{name: name for name in ("itertools", "functools", "collections", "argparse", "warnings")},
}
ELSE = {"amp": "apex.amp"}  # where the text asks for what the first does not have
OF_ENGINES = frozenset({"Tensor", "Variable", "Parameter", "Function"})  # own ones have these, too


def usual(name: str) -> str:
    """Return the module that is usually imported for a name; '' for other names."""
    return USUAL.get(name, "").partition(":")[0]


class EveryName(dict[str, Any]):
    """A `__builtins__` in which every name is found: imported if it is usual, else synthesized.

    Names in `left_out` of the script are synthesized, too.
    """

    def __init__(self, harness: SynthesizedValues, left_out: frozenset[str] = frozenset()) -> None:
        super().__init__(vars(builtins))
        self._harness = harness
        self._left_out = left_out
        self["super"] = _above
        self[CARRIED] = harness.outputs.carried
        if not harness.use("input").called and "input" in harness.uses.of:
            del self["input"]  # a tensor's name more often than the function's

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):
            raise KeyError(name)
        found = self._usual(name) if name not in self._left_out else None
        if found is not None:
            self[name] = found
            return found
        return self._harness.load(name, sys._getframe(1))

    def _usual(self, name: str) -> Any:
        """Return what is usually imported under the name, if the script uses it so."""
        if name in OF_ENGINES and self._of_an_engine(name):
            return None
        if name == "grad" and self._transforms(name):
            return self._found_at(name, "torch.func:grad")
        found = self._found_at(name, USUAL.get(name, ""))
        return found if found is not None else self._found_at(name, ELSE.get(name, ""))

    def _found_at(self, name: str, place: str) -> Any:
        """Return a module's attribute; or the module, if the script uses its parts."""
        place, _, part = place.partition(":")
        if not place:
            return None
        try:
            found: Any = importlib.import_module(place)
        except ImportError:
            return None
        found = getattr(found, part) if part else found
        use = self._harness.use(name)
        if isinstance(found, ModuleType) and (use.called or use.iterated or not use.asked):
            return None
        if not all(hasattr(found, asked) for asked in use.asked):
            return None
        self._harness.assumption_log.imported(name, place, part)
        return found

    def _transforms(self, name: str) -> bool:
        """Return True if each call gives one argument: a function, where autograd's takes two."""
        calls = self._harness.use(name).called
        given = {keyword.arg for call in calls for keyword in call.keywords}
        one_each = all(len(call.args) == 1 for call in calls)
        return bool(calls) and one_each and not given & {"inputs", "outputs"}

    def _of_an_engine(self, name: str) -> bool:
        """Return True if a class is not torch's, although it has the name of one."""
        calls = self._harness.use(name).called
        given = {keyword.arg for call in calls for keyword in call.keywords}
        return self._harness.engine is not None or bool(given & FLAGS - {"requires_grad"})


class AssumedSuper:
    """What `super()` gives in a method that was pasted without its class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return CurrentHarness.harness.attributes.of("super()", name)


def _above(*given: Any) -> Any:
    """Replace `super`, also answering where there is no class."""
    names = sys._getframe(1).f_locals
    if not given and "__class__" in names:
        given = (names["__class__"], names[sys._getframe(1).f_code.co_varnames[0]])
    return super(*given) if given and isinstance(given[0], type) else AssumedSuper()
