"""The service in containers: its images built from here, and Compose to bring it up."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import docker  # type: ignore[import-untyped]
import pytest
import yaml

from tests import engine
from tests.processes import free_port

ROOT = Path(__file__).parent.parent
BASE = "gradmend-base-under-test"
POSTGRES = "gradmend-postgres-under-test"
SANDBOX = "gradmend-sandbox"  # as `compose.yaml` names it
_PARTS = ".[server,postgres,sandbox,packages,container]"
_WITH_WHEELS = f"""
FROM {engine.BASE}
COPY . /wheels
ENV PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels
"""


def compose_command() -> list[str]:
    """Compose 2 or 1; skips the test where there is neither."""
    if shutil.which("docker") and _succeeds("docker", "compose", "version"):
        return ["docker", "compose"]
    if shutil.which("docker-compose") is None:
        pytest.skip("neither docker compose nor docker-compose is installed")
    return ["docker-compose"]


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


def build_bases(address: str) -> None:
    """What the images start from, with this machine's packages: no build asks a package index."""
    client = docker.DockerClient(base_url=address)
    engine.make_base(client, address)
    with tempfile.TemporaryDirectory() as directory:
        _wheels(directory)
        Path(directory, "Dockerfile").write_text(_WITH_WHEELS)
        client.images.build(path=directory, tag=BASE, rm=True)
    places = str(ROOT / "tests/images/postgres")
    client.images.build(path=places, tag=POSTGRES, network_mode="host", rm=True)
    client.close()


def _wheels(directory: str) -> None:
    """Wheels of everything that the images install, and of what builds the service's own."""
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "-c", "constraints.txt", "-w", directory]
    subprocess.run([*wheel, "hatchling", _PARTS], cwd=ROOT, check=True)


def build_images(address: str) -> None:
    """The images of `compose.yaml`, from the bases."""
    build_bases(address)
    given = {"BASE": BASE, "NODE": BASE}
    arguments = ["build", *(f"--build-arg={name}={value}" for name, value in given.items())]
    _compose(arguments, {"DOCKER_HOST": address})


@contextlib.contextmanager
def composed(address: str, project: str = "gradmend-under-test") -> Iterator[str]:
    """`docker compose up` of the checkout with images built before; the service's address."""
    port = free_port()
    environment = {
        "DOCKER_HOST": address,
        "GRADMEND_DOCKER_SOCKET": address.removeprefix("unix://"),
        "GRADMEND_POSTGRES_IMAGE": POSTGRES,
        "GRADMEND_PUBLISH": f"127.0.0.1:{port}",
    }
    named = ["-p", project]
    try:
        _compose([*named, "up", "-d", "--no-build", "--scale", "worker=2"], environment)
        yield f"http://127.0.0.1:{port}"
    finally:
        _compose([*named, "logs", "--tail=20"], environment)
        _compose([*named, "down", "-v", "--remove-orphans", "-t", "5"], environment)


def _compose(arguments: list[str], environment: dict[str, str]) -> None:
    command = [*compose_command(), *arguments]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=True)


@contextlib.contextmanager
def jailing(address: str) -> Iterator[Path]:
    """The launcher of `compose.jail.yaml` in its container; the path of its socket.

    Compose 1 does not know all of that file, so its options are handed to `docker run`.
    """
    base, over = (
        yaml.safe_load((ROOT / name).read_text())["services"]["sandbox"]
        for name in ("compose.yaml", "compose.jail.yaml")
    )
    options = [f"--user={over['user']}", f"--network={base['network_mode']}"]
    options += [f"--cap-drop={name}" for name in base["cap_drop"]]
    options += [f"--security-opt={each}" for each in over["security_opt"]]
    options += [f"--tmpfs={place}" for place in base["tmpfs"]]
    options += ["--read-only"] if base["read_only"] else []
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)  # the launcher is nobody
        options.append(f"--volume={shared}:/run/gradmend")
        docker_cli = ["docker", f"--host={address}"]
        command = [*docker_cli, "run", "-d", *options, base["image"], *over["command"]]
        started = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        container = started.stdout.strip()
        try:
            yield Path(shared, "sandbox.sock")
        finally:
            subprocess.run([*docker_cli, "logs", container], check=True)
            subprocess.run([*docker_cli, "rm", "-f", container], check=True, capture_output=True)
