"""List the files that Python and torch need to run; a jail sees these and no others."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import provenance
import sandbox

# A prefix that is shared with the whole system; only its library directories are needed.
_SYSTEM_PREFIXES = {"/usr", "/usr/local", "/"}
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_PACKAGES = {"site-packages", "dist-packages"}  # those of an environment below are on sys.path, too
_DATA = ("/usr/share/zoneinfo", "/sys/devices/system/cpu")


def needed_paths() -> list[str]:
    """Return existing absolute paths, parents before children, none inside another, links
    unresolved.
    """
    found = [path for path in _candidates() if os.path.exists(path)]
    chosen: list[str] = []
    for path in sorted(set(found)):
        if not any(Path(path).is_relative_to(above) for above in chosen):
            chosen.append(path)
    return chosen


def _candidates() -> list[str]:
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = [prefix for prefix in prefixes if prefix not in _SYSTEM_PREFIXES]
    paths += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [path for path in sys.path if os.path.basename(path) in _PACKAGES]
    paths += [sys.executable, os.path.realpath(sys.executable)]
    paths += [str(Path(path).parent) for path in (sandbox.__file__, provenance.__file__)]
    paths += [*_LIBRARIES, *_DATA]
    return [os.path.normpath(path) for path in paths]
