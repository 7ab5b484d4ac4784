"""Deny system calls that a script may not make.

A denied call returns an error number, never a signal: libraries try calls and fall back, and NumPy
or libc would die unpredictably from a SIGSYS. What is not named here is allowed; calls newer than
the table are unknown, hence absent (ENOSYS).
"""

from __future__ import annotations

import ctypes
import errno
import socket
import struct

from sandbox.walls import libc
from sandbox.walls.errors import raising
from sandbox.walls.numbers import AUDIT_ARCHITECTURES, LAST_JUDGED, exists, machine, number

DENIED: dict[str, str] = {
    "mounts and roots": "mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig"
    " fsmount fspick mount_setattr",
    "namespaces": "unshare setns",
    "other processes": "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise",
    "large kernel interfaces": "keyctl add_key request_key bpf perf_event_open userfaultfd",
    "the machine": "init_module finit_module delete_module kexec_load kexec_file_load reboot"
    " swapon swapoff acct quotactl quotactl_fd settimeofday clock_settime clock_adjtime adjtimex"
    " sethostname setdomainname syslog vhangup personality lookup_dcookie iopl ioperm modify_ldt"
    " uselib",
    "files by handle": "name_to_handle_at open_by_handle_at fanotify_init fanotify_mark",
    "memory that no limit counts": "memfd_create memfd_secret shmget msgget semget mq_open",
    "placement of memory": "migrate_pages move_pages mbind set_mempolicy set_mempolicy_home_node",
}

# Absent rather than refused: libraries know how to live without them.
ABSENT = "io_uring_setup io_uring_enter io_uring_register clone3"

# Families of sockets, and the protocols that each may speak. Netlink's zero is the list of
# interfaces, which `getifaddrs` asks for, and with it `torch.distributed`.
SOCKETS: dict[int, tuple[int, ...]] = {
    socket.AF_UNIX: (0,),
    socket.AF_INET: (0, socket.IPPROTO_TCP, socket.IPPROTO_UDP),
    socket.AF_INET6: (0, socket.IPPROTO_TCP, socket.IPPROTO_UDP),
    socket.AF_NETLINK: (0,),
}
# Options by level. Buffers keep their first size, as no limit counts them; TCP keeps its ways.
_BUFFERS_FORCED = (32, 33)  # SO_SNDBUFFORCE, SO_RCVBUFFORCE
_CONGESTION, _UPPER_LAYER = 13, 31  # TCP_CONGESTION, TCP_ULP
DENIED_OPTIONS: dict[int, tuple[int, ...]] = {
    socket.SOL_SOCKET: (socket.SO_SNDBUF, socket.SO_RCVBUF, *_BUFFERS_FORCED),
    socket.IPPROTO_TCP: (_CONGESTION, _UPPER_LAYER),
}

_NEW_NAMESPACE = (
    libc.CLONE_NEWNS
    | libc.CLONE_NEWCGROUP
    | libc.CLONE_NEWUTS
    | libc.CLONE_NEWIPC
    | libc.CLONE_NEWUSER
    | libc.CLONE_NEWPID
    | libc.CLONE_NEWNET
)
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX

# Classic BPF: load a word, jump if equal / greater / any bit, return.
_LOAD, _EQUAL, _GREATER, _BITS, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW = 0x7FFF_0000
_NUMBER, _ARCHITECTURE, _ARGUMENT_0, _ARGUMENT_1, _ARGUMENT_2 = 0, 4, 16, 24, 32
_MODE_FILTER = 2


def _step(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, operand)


def _answer(code: int) -> bytes:
    return _step(_RETURN, 0x0005_0000 | code)


def _refuse(name: str, code: int) -> list[bytes]:
    return [_step(_EQUAL, number(name), 0, 1), _answer(code)] if exists(name) else []


def _only_when(name: str, body: list[bytes]) -> list[bytes]:
    """Run `body` for one system call, and allow it where `body` has not answered."""
    body = [*body, _step(_RETURN, _ALLOW)]
    return [_step(_EQUAL, number(name), 0, len(body)), *body]


def program() -> bytes:
    """Return the filter as an array of classic BPF instructions, 8 bytes each."""
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, AUDIT_ARCHITECTURES[machine()], 1, 0),
        _answer(errno.ENOSYS),
        _step(_LOAD, _NUMBER),
        _step(_GREATER, LAST_JUDGED, 0, 1),
        _answer(errno.ENOSYS),
    ]
    for name in ABSENT.split():
        steps += _refuse(name, errno.ENOSYS)
    for group in DENIED.values():
        for name in group.split():
            steps += _refuse(name, errno.EPERM)
    namespaces = [_step(_BITS, _NEW_NAMESPACE, 0, 1), _answer(errno.EPERM)]
    steps += _only_when("clone", [_step(_LOAD, _ARGUMENT_0), *namespaces])
    steps += _only_when("socket", _sockets())
    steps += _only_when("socketpair", [_step(_LOAD, _ARGUMENT_0), *_unless(socket.AF_UNIX)])
    steps += _only_when("setsockopt", _options())
    requests = [
        step
        for request in _TERMINAL_INJECTION
        for step in (_step(_EQUAL, request, 0, 1), _answer(errno.EPERM))
    ]
    steps += _only_when("ioctl", [_step(_LOAD, _ARGUMENT_1), *requests])
    # Limits of other processes, such as this run's own watch: of the same user, so the kernel
    # would not mind. Zero is the caller itself.
    of_others = [_step(_EQUAL, 0, 1, 0), _answer(errno.EPERM)]
    steps += _only_when("prlimit64", [_step(_LOAD, _ARGUMENT_0), *of_others])
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _sockets() -> list[bytes]:
    """Return instructions that refuse all socket families and protocols except those named."""
    steps = [_step(_LOAD, _ARGUMENT_0)]
    for family, protocols in SOCKETS.items():
        allowed = [
            _step(_EQUAL, protocol, len(protocols) - at) for at, protocol in enumerate(protocols)
        ]
        body = [
            _step(_LOAD, _ARGUMENT_2),
            *allowed,
            _answer(errno.EPROTONOSUPPORT),
            _step(_RETURN, _ALLOW),
        ]
        steps += [_step(_EQUAL, family, 0, len(body)), *body]
    return [*steps, _answer(errno.EAFNOSUPPORT)]


def _unless(family: int) -> list[bytes]:
    """Return instructions that refuse the loaded value unless it is this family."""
    return [_step(_EQUAL, family, 1, 0), _answer(errno.EAFNOSUPPORT)]


def _options() -> list[bytes]:
    steps = [_step(_LOAD, _ARGUMENT_1)]
    for level, options in DENIED_OPTIONS.items():
        body = [_step(_LOAD, _ARGUMENT_2)]
        for option in options:
            body += [_step(_EQUAL, option, 0, 1), _answer(errno.EPERM)]
        body.append(_step(_RETURN, _ALLOW))
        steps += [_step(_EQUAL, level, 0, len(body)), *body]
    return steps


def apply() -> None:
    """Filter this process and all that it starts. Needs no_new_privs."""
    install(program())


def install(code: bytes) -> None:
    """Have the kernel run a classic BPF program at each system call from now on."""
    with raising("seccomp"):
        steps = ctypes.create_string_buffer(code, len(code))
        header = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(steps))
        filter_ = ctypes.create_string_buffer(header, len(header))
        libc.prctl(libc.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(filter_))
