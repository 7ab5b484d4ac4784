"""Print the seccomp profile of a container in which a jail runs: `python -m sandbox.walls.profile`.

Docker's own profile refuses what a jail needs: namespaces, mounts, a host name. This one allows
those and refuses everything else that scripts may not call, so that the launcher is filtered too.
`compose.jail.seccomp.json` is its output.
"""

from __future__ import annotations

import errno
import json
from typing import Any

from sandbox.walls.seccomp import ABSENT, DENIED

_JAIL_NEEDS = {"mounts and roots", "namespaces"}
_JAIL_CALLS = {"sethostname"}


def profile() -> dict[str, Any]:
    """Return the profile in the form of the OCI runtime specification, `linux.seccomp`."""
    denied = [
        name
        for group, names in DENIED.items()
        if group not in _JAIL_NEEDS
        for name in names.split()
        if name not in _JAIL_CALLS
    ]
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
        ],
        "syscalls": [_refused(denied, errno.EPERM), _refused(ABSENT.split(), errno.ENOSYS)],
    }


def _refused(names: list[str], code: int) -> dict[str, Any]:
    return {"names": sorted(names), "action": "SCMP_ACT_ERRNO", "errnoRet": code}


if __name__ == "__main__":
    print(json.dumps(profile(), indent=2))
