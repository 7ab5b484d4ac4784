"""A real Docker daemon for tests: the machine's own, or one started here."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker  # type: ignore[import-untyped]
import pytest

BASE = "python:3.11-slim-bookworm"
_CACHE = Path(tempfile.gettempdir(), "gradmend-test-docker")
_MAKE_BASE = Path(__file__).with_name("docker_base.sh")
_START_S = 60


@contextlib.contextmanager
def daemon() -> Iterator[str]:
    """Address of a daemon that answers; skips the test where there can be none."""
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if _answers(address):
        yield address
    elif os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("no Docker daemon answers, and only root with dockerd could start one")
    else:
        with _own_daemon() as own:
            yield own


@contextlib.contextmanager
def _own_daemon() -> Iterator[str]:
    """A daemon without any network, its images kept from one session to the next."""
    _CACHE.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, open(_CACHE / "log", "w") as log:
        address = f"unix://{scratch}/docker.sock"
        places = [f"--data-root={_CACHE}/data", f"--exec-root={scratch}/exec", f"--host={address}"]
        network = ["--iptables=false", "--ip6tables=false", "--bridge=none"]
        command = ["dockerd", *places, f"--pidfile={scratch}/pid", *network]
        with _forwarding(), subprocess.Popen(command, stdout=log, stderr=log) as process:
            try:
                deadline = time.monotonic() + _START_S
                while not _answers(address):
                    if process.poll() is not None or time.monotonic() > deadline:
                        pytest.skip(f"dockerd does not start here: {_last_line(_CACHE / 'log')}")
                    time.sleep(0.1)
                yield address
            finally:
                process.terminate()
                process.wait()
                for mounted in Path(scratch).glob("exec/netns/*"):  # of containers on the host's
                    subprocess.run(["umount", mounted], check=True)


@contextlib.contextmanager
def _forwarding() -> Iterator[None]:
    """Containers reach each other, whatever the machine's firewall does with what is forwarded: a
    daemon that ran before may have left it to drop all. Rules of our own daemon would stay, too."""
    rule = ["FORWARD", "-i", "br-+", "-o", "br-+", "-j", "ACCEPT"]
    firewall = shutil.which("iptables")
    added = firewall and subprocess.run([firewall, "-w", "-I", *rule]).returncode == 0
    try:
        yield
    finally:
        if firewall and added:
            subprocess.run([firewall, "-w", "-D", *rule], check=True)


def _last_line(path: Path) -> str:
    return (path.read_text().splitlines() or [""])[-1]


def _answers(address: str) -> bool:
    try:
        client = docker.DockerClient(base_url=address)
        client.ping()
    except docker.errors.DockerException:
        return False
    client.close()
    return True


def make_base(client: Any, address: str) -> None:
    """The image `BASE`: pulled, or made here of Debian's packages."""
    if client.images.list(BASE):
        return
    with contextlib.suppress(docker.errors.APIError):
        client.images.pull(BASE)
        return
    if shutil.which("debootstrap") is None:
        pytest.skip("no image registry can be reached, and debootstrap is not installed")
    subprocess.run([_MAKE_BASE, BASE], check=True, env={**os.environ, "DOCKER_HOST": address})
