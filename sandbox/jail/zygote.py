"""The warm parent, started by the launcher:

    python -m sandbox.jail.zygote CHANNEL PARENT ENTRY [GROUP]

CHANNEL is the descriptor of a SOCK_SEQPACKET socket. With a group of `sandbox.preload`,
the parent also imports its packages. It first sends, as JSON, `{"ready": …}` or `{"refused": [wall,
reason]}`; after that, each socket that arrives there is for one run.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
from typing import NoReturn

from sandbox import preload
from sandbox.jail import namespaces, root, run
from sandbox.jail.interpreter import needed_paths
from sandbox.walls import libc, privileges
from sandbox.walls.errors import WallError
from sandbox.watch.script import RunJob, prepare
from sandbox.wire import take_over

ENTRY = "sandbox.inside.main:run_job"
WARM_UP = "sandbox.inside.warm"

_OUTER = {
    "mount-namespace": libc.CLONE_NEWNS,
    "ipc-namespace": libc.CLONE_NEWIPC,
    "uts-namespace": libc.CLONE_NEWUTS,
    "no-network": libc.CLONE_NEWNET,
    "pid-namespace": libc.CLONE_NEWPID,
}


def main(channel: socket.socket, parent: int, entry: str, group: str | None) -> None:
    """Become the parent of a zygote, and end with it."""
    paths = needed_paths()
    as_root = os.geteuid() == 0
    try:
        if not as_root:
            namespaces.enter_user_namespace()
        libc.die_with_parent(parent)
        namespaces.enter(_OUTER)
        zygote = os.fork()
    except WallError as error:
        _refuse(channel, error)
        return
    if zygote == 0:
        _live(channel, paths, entry, as_root, group)
    channel.close()
    os.waitpid(zygote, 0)


def _live(
    channel: socket.socket, paths: list[str], entry: str, as_root: bool, group: str | None
) -> NoReturn:
    """Run as pid 1 of the outer pid namespace; when it ends, every run ends."""
    try:
        root.enter_bare_root(paths)
        if as_root:
            privileges.become_with_a_way_on(privileges.NOBODY)
        else:
            privileges.drop_capabilities()
        libc.die_with_parent(0)  # the keeper is outside of this pid namespace, hence 0
        run_job = _warm(entry, group)
        channel.send(json.dumps({"ready": True}).encode())
        _serve(channel, paths, run_job)
    except WallError as error:
        _refuse(channel, error)
    finally:
        os._exit(0)


def _warm(entry: str, group: str | None) -> RunJob:
    """Import what runs need, once for all of them."""
    module, _, function = entry.partition(":")
    try:
        if group is not None:  # first: warming up reads which modules are loaded
            preload.load(group)
        importlib.import_module(WARM_UP).warm_up()
        run_job: RunJob = getattr(importlib.import_module(module), function)
    except Exception as error:
        raise WallError("interpreter", repr(error)) from error
    prepare()
    return run_job


def _serve(channel: socket.socket, paths: list[str], run_job: RunJob) -> None:
    """Fork a watcher for each socket that arrives, until the launcher closes the channel."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    while (control := take_over(channel)) is not None:
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            channel.close()
            try:
                run.watch_run(control, paths, run_job)
            finally:
                os._exit(0)
        control.close()


def _refuse(channel: socket.socket, error: WallError) -> None:
    channel.send(json.dumps({"refused": [error.wall, error.reason]}).encode())


if __name__ == "__main__":
    main(
        socket.socket(fileno=int(sys.argv[1])),
        int(sys.argv[2]),
        sys.argv[3],
        next(iter(sys.argv[4:]), None),
    )
