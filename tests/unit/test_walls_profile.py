"""The seccomp profile that `compose.jail.yaml` names."""

from __future__ import annotations

import json
from pathlib import Path

from sandbox.walls.profile import profile

WRITTEN = Path(__file__).parents[2] / "compose.jail.seccomp.json"


def test_the_written_profile_is_the_printed_one() -> None:
    assert json.loads(WRITTEN.read_text()) == profile(), (
        f"run: python -m sandbox.walls.profile > {WRITTEN.name}"
    )


def test_a_jail_may_be_made_and_the_kernel_not_be_reached() -> None:
    refused = {name for rule in profile()["syscalls"] for name in rule["names"]}
    assert refused.isdisjoint({"unshare", "mount", "pivot_root", "sethostname"})
    assert refused >= {"bpf", "ptrace", "io_uring_setup", "kexec_load", "keyctl"}
