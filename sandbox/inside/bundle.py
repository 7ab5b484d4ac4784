"""Makes the tracer one file, for a user's own data and GPU: `gradmend_trace.py`.

    python gradmend_trace.py train.py --its-own arguments

runs the script as Python would and writes `gradmend-trace.jsonl` next to it, without stubs.
"""

from __future__ import annotations

import json
from pathlib import Path

PACKAGE = "gradmend_trace_parts"
LEFT_OUT = {"bundle", "warm", "stubs", "resources", "main", "harness", "attached"}

_HEAD = '''"""Records what the autograd of a PyTorch script does, for Gradmend.

    python gradmend_trace.py train.py --its-own arguments

runs the script as Python would, and writes gradmend-trace.jsonl. Send that file along with the
script (field `trace`). It holds line numbers, names, shapes and counts; no data, no weights.
Needs nothing but PyTorch. Written by a program: the parts below are modules, kept as text.
"""

import importlib.abc
import importlib.machinery
import os
import sys

PACKAGE = {package!r}
RECORDS = "gradmend-trace.jsonl"
PARTS = {parts}


class Parts(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the modules that this file holds as text."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == PACKAGE or fullname.startswith(PACKAGE + "."):
            inside = fullname[len(PACKAGE) + 1 :] + "."
            package = fullname == PACKAGE or any(part.startswith(inside) for part in PARTS)
            return importlib.machinery.ModuleSpec(fullname, self, is_package=package)
        return None

    def get_source(self, fullname):
        return PARTS.get(fullname[len(PACKAGE) + 1 :], "")

    def exec_module(self, module):
        name = module.__name__
        module.__file__ = "<%s>" % name
        exec(compile(self.get_source(name), module.__file__, "exec"), module.__dict__)


def main():
    """Trace the script named on the command line; leave with its exit code."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.meta_path.insert(0, Parts())
    from importlib import import_module

    fd = os.open(os.path.abspath(RECORDS), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    session = import_module(PACKAGE + ".script_run")
    job = {{"entry": sys.argv[1], "argv": sys.argv[2:], "launcher": __file__}}
    job.update(stubs=False, seed=False)
    code = session.run(job, fd)
    print("gradmend: the trace is in " + RECORDS, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
'''


def build() -> str:
    """Return the source of `gradmend_trace.py`."""
    folder = Path(__file__).parent
    places = {path: path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.py")}
    parts = {
        ".".join(place): path.read_text(encoding="utf-8")
        for path, place in sorted(places.items())
        if place[0] not in LEFT_OUT and place[-1] != "__init__"
    }
    entries = ",\n".join(f"    {name!r}: {json.dumps(text)}" for name, text in parts.items())
    return _HEAD.format(package=PACKAGE, parts="{\n" + entries + ",\n}")
