"""Names that Python itself provides."""

from __future__ import annotations

import builtins

BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
