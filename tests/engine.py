"""A real Docker daemon with a torch image, for tests: the machine's own, or one started here."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker  # type: ignore[import-untyped]
import pytest

import sandbox
from tests.bare_root import anybody_may_read, site, write_root

BASE = "python:3.11-slim-bookworm"
IMAGE = "gradmend-sandbox-under-test"
_CACHE = Path(tempfile.gettempdir(), "gradmend-test-docker")
_MAKE_BASE = Path(__file__).with_name("docker_base.sh")
_START_S = 60
_IMPORT_S = 600  # for a gigabyte, on a crowded machine


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


def build_image(address: str, tag: str = IMAGE) -> str:
    """An image of this interpreter, its torch, and the sandbox as it is now; its tag."""
    client = docker.DockerClient(base_url=address, timeout=_IMPORT_S)
    root = f"gradmend-root:{importlib.metadata.version('torch').replace('+', '-')}"
    if not client.images.list(root):
        with tempfile.TemporaryFile() as file:
            write_root(file)
            client.api.import_image(file, *root.split(":"))
    _add_sandbox(client, root, tag)
    client.close()
    return tag


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


def _add_sandbox(client: Any, base: str, tag: str) -> None:
    """`base` with the sandbox among its packages, as the image `tag`."""
    container = client.containers.create(base, ["python"])
    try:
        with tempfile.TemporaryFile() as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                archive.add(Path(sandbox.__file__).parent, "sandbox", filter=anybody_may_read)
            file.seek(0)
            container.put_archive(site(), file)
        container.commit(tag)
    finally:
        container.remove(force=True)
