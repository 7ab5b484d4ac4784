"""Runs a main script from its patched text: `python runner.py train.py --its-own arguments`."""


def _prepared() -> "tuple[bytes, str]":
    """Prepare path, arguments and names as for `python train.py`; return the source and its
    path."""
    import os
    import sys
    from importlib.machinery import SourceFileLoader

    del sys.argv[0]
    path = os.path.abspath(sys.argv[0])
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = sys.modules["__main__"].__dict__
    main.pop("_prepared")
    main.update(__file__=path, __doc__=None, __cached__=None)
    main.update(__loader__=SourceFileLoader("__main__", path))
    text: bytes = sys.modules["_gradmend.attached.overlay"].text_of(path)
    return text, path


exec(compile(*_prepared(), "exec", dont_inherit=True))
