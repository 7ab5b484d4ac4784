"""Reading what is the host's: files, environment, memory, descriptors."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.abuse.attacking import Target

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_hosts_files_are_not_there(target: Target, open_directory: Path) -> None:
    secret = open_directory / "secret"
    secret.write_text(secrets.token_hex())
    secret.chmod(0o644)
    places = [str(secret), os.getcwd() + "/pyproject.toml", "/var/run/docker.sock"]
    links = [f"/proc/{pid}/root{secret}" for pid in (1, "self", os.getpid())]
    result = await target.attack(f"""
        import os
        for path in {places + links}:
            if os.path.lexists(path):
                print("there:", path)
        os.symlink({str(secret)!r}, "link")
        print(os.path.exists("link"))
    """)
    assert result.stdout_tail == "False\n"


async def test_passwords_cannot_be_read(target: Target) -> None:
    result = await target.attack("""
        import os
        for path in ("/etc/shadow", "/etc/gshadow", "/etc/shadow-"):
            try:
                print("opened", path, os.read(os.open(path, os.O_RDONLY), 100))
            except OSError:
                print("closed")
    """)
    assert result.stdout_tail == "closed\n" * 3


@pytest.mark.parametrize("target", ["jail"], indirect=True)  # a container shows its image's files
async def test_a_jail_shows_the_interpreter_and_little_else(target: Target) -> None:
    result = await target.attack("""
        import os
        print(sorted(os.listdir("/")))
        print(sorted(os.listdir("/etc")))
    """)
    top, etc = result.stdout_tail.splitlines()
    assert "var" not in top
    assert "home" not in top
    assert "shadow" not in etc


async def test_the_launchers_environment_is_not_inherited(target: Target) -> None:
    result = await target.attack("""
        import os
        print(dict(os.environ))
        for pid in (1, "self"):
            try:
                print(open(f"/proc/{pid}/environ").read())
            except OSError:
                pass
    """)
    for name in ("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "USER", "SHELL", "PWD"):
        assert f"'{name}'" not in result.stdout_tail
        assert f"{name}=" not in result.stdout_tail


@pytest.mark.parametrize("pid", [1, "os.getppid()"])
async def test_memory_of_other_processes_is_closed(target: Target, pid: object) -> None:
    result = await target.attack(f"""
        import os
        for flags in (os.O_RDONLY, os.O_RDWR):
            try:
                os.open(f"/proc/{{{pid}}}/mem", flags)
                print("opened")
            except OSError as error:
                print(error.errno in (1, 2, 13))
    """)
    assert result.stdout_tail == "True\nTrue\n"


async def test_no_descriptor_leaks_in(target: Target) -> None:
    """There are the streams and the records, of which the tracer may hold a copy."""
    result = await target.attack("""
        import os
        for number in range(256):
            try:
                print(os.readlink(f"/proc/self/fd/{number}"))
            except FileNotFoundError:
                pass
    """)
    nothing, out, err, records, *others = result.stdout_tail.splitlines()
    assert nothing == "/dev/null"
    assert all(name.startswith("pipe:") for name in (out, err, records))
    assert set(others) <= {records}


async def test_setuid_programs_give_nothing(target: Target) -> None:
    result = await target.attack("""
        import os, subprocess, sys
        with open("/tmp/copy", "wb") as copy, open(os.path.realpath(sys.executable), "rb") as file:
            copy.write(file.read(1 << 20))
        os.chmod("/tmp/copy", 0o6755)
        status = open("/proc/self/status").read()
        print("NoNewPrivs:\\t1" in status, os.getuid() == os.geteuid() == 65534)
        try:
            os.setuid(0)
        except OSError:
            print("still nobody")
    """)
    assert result.stdout_tail == "True True\nstill nobody\n"


async def test_hard_links_do_not_reach_library_files(target: Target) -> None:
    result = await target.attack("""
        import os, torch
        for path in (torch.__file__, "/etc/passwd"):
            try:
                os.link(path, "/tmp/link")
                print("linked", path)
            except OSError:
                pass
    """)
    assert result.stdout_tail == ""


@pytest.mark.parametrize("path", ["../escape.py", "/tmp/escape.py", "a/../../escape.py"])
async def test_paths_of_files_stay_within_the_project(target: Target, path: str) -> None:
    result = await target.run(
        "print('ran')", files={"train.py": "print('ran')", path: ""}, mode="plain"
    )
    assert result.status == "unavailable"
    assert result.reason is not None
    assert "path within the project" in result.reason
