"""Start the launcher on a machine that grants less: `python poorer_machines.py MACHINE ARGUMENTS…`.

`nobody`: as an ordinary user without any privilege, who may reach the interpreter.
`no-landlock`, `no-namespaces`: on a kernel that answers as if it lacked them.
"""

from __future__ import annotations

import errno
import runpy
import struct
import sys
from pathlib import Path

from sandbox.jail.interpreter import needed_paths
from sandbox.jail.root import enter_bare_root
from sandbox.walls import libc, privileges, seccomp
from sandbox.walls.numbers import number

ORDINARY_USER = 65534


def become_nobody() -> None:
    libc.unshare(libc.CLONE_NEWNS)
    enter_bare_root(needed_paths())
    privileges.become(ORDINARY_USER)


def answer(names: list[str], code: int) -> None:
    """From now on the kernel answers `code` to these calls, and acts as usual on all others."""
    steps = [struct.pack("HBBI", 0x20, 0, 0, 0)]
    for name in names:
        steps.append(struct.pack("HBBI", 0x15, 0, 1, number(name)))
        steps.append(struct.pack("HBBI", 0x06, 0, 0, 0x0005_0000 | code))
    steps.append(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF_0000))
    privileges.forbid_new_privileges()
    seccomp.install(b"".join(steps))


def main() -> None:
    machine = sys.argv[1]
    if machine == "nobody":
        become_nobody()
    elif machine == "no-landlock":
        answer(["landlock_create_ruleset"], errno.ENOSYS)
    elif machine == "no-namespaces":
        answer(["unshare"], errno.EPERM)
    else:
        raise SystemExit(f"no such machine: {machine}")
    sys.argv = ["sandbox.launcher", *sys.argv[2:]]
    runpy.run_module("sandbox.launcher", run_name="__main__")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
