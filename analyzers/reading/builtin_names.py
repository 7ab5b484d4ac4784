"""Names that Python itself provides."""

from __future__ import annotations

import builtins

# What these names mean in code that was pasted without its imports.
USUAL_IMPORTS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
}
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
