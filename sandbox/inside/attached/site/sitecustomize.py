"""What every Python of a command does first, where `gradmend run` started it.

It leaves the path as it would be, lets the environment's own `sitecustomize` run, and has the
tracer wait for torch. Whatever fails here is noted; the program never hears of it.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 10)


def _restore() -> None:
    """Restore the module path without this folder, and the `sitecustomize` that it hides."""
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        if own is not None:
            sys.modules.setdefault("sitecustomize", own)


def _begin(box: str) -> None:
    """Make the tracer wait; its modules get names that no project has."""
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:2]))
        with open(os.path.join(box, f"trouble-{os.getpid()}"), "w") as file:
            file.write(f"Python {version} is too old to be traced; 3.10 is the oldest")
        return
    from importlib import import_module
    from types import ModuleType

    package = ModuleType("_gradmend")
    package.__path__ = [os.path.dirname(os.path.dirname(HERE))]
    sys.modules["_gradmend"] = package
    import_module("_gradmend.attached.beginning").begin(box)


_box = os.environ.get("GRADMEND_BESIDE")
try:
    if _box and os.path.isdir(_box):
        _begin(_box)
except Exception as _error:
    sys.stderr.write(f"gradmend: not traced ({type(_error).__name__}: {_error})\n")
_restore()
