"""The few things asked of the Docker Engine, through its client library; all of them block."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

import docker  # type: ignore[import-untyped]
from docker.errors import DockerException, NotFound  # type: ignore[import-untyped]

from sandbox.walls.limits import Limits

LABEL = "dev.gradmend.sandbox"
_SPARE_TASKS = 8  # pid 1, the reaper, and room for the watch to see that the limit is reached
_SPARE_MEMORY_MIB = 768  # torch itself, and files in the scratch directories

EngineError = DockerException


@dataclass(frozen=True)
class Shape:
    """What every container of a launcher is made from."""

    image: str
    runtime: str
    entry: str
    environment: dict[str, str]
    limits: Limits
    owner: str

    def settings(self) -> dict[str, Any]:
        """Keyword arguments of the Engine's `create`; the walls that it raises are all here."""
        limits = self.limits
        scratch = f"size={limits.work_mib}m,nr_inodes={limits.inodes},mode=1777"
        memory = f"{limits.memory_mib + _SPARE_MEMORY_MIB}m"
        return {
            "image": self.image,
            "command": ["python", "-P", "-m", "sandbox.container.guest", self.entry],
            "environment": self.environment,
            "labels": {LABEL: self.owner},
            "runtime": self.runtime,
            "network_mode": "none",
            "read_only": True,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "pids_limit": limits.tasks + _SPARE_TASKS,
            "mem_limit": memory,
            "memswap_limit": memory,
            "user": "65534:65534",
            "working_dir": "/",
            "hostname": "sandbox",
            "ipc_mode": "private",
            "shm_size": f"{limits.shared_mib}m",
            "tmpfs": {"/tmp": scratch, "/job": scratch},
            "stdin_open": True,
            "auto_remove": True,
        }


class Engine:
    """A connection to the Engine that the environment names (`DOCKER_HOST`)."""

    def __init__(self) -> None:
        self._client: Any = docker.from_env()

    def start(self, shape: Shape) -> tuple[str, socket.socket]:
        """A new running container: its id, and the socket of its standard streams."""
        container = self._client.containers.create(**shape.settings())
        try:
            streams = container.attach_socket(
                params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            )
            container.start()
        except BaseException:
            self.remove(container.id)
            raise
        return container.id, _plain_socket(streams)

    def remove(self, name: str) -> None:
        """End a container and remove what it leaves; one that has gone already is fine."""
        try:
            self._client.api.remove_container(name, force=True, v=True)
        except NotFound:
            return
        except docker.errors.APIError as error:
            if error.status_code != 409:  # its own end is removing it at this moment
                raise

    def sweep(self, owner: str) -> None:
        """Remove every container of `owner`, in whatever state."""
        found = self._client.api.containers(all=True, filters={"label": f"{LABEL}={owner}"})
        for container in found:
            self.remove(container["Id"])

    def close(self) -> None:
        self._client.close()


def _plain_socket(streams: Any) -> socket.socket:
    """The library wraps the socket differently for each transport."""
    inner = getattr(streams, "_sock", streams)
    handle = socket.socket(fileno=socket.dup(inner.fileno()))
    handle.setblocking(False)
    streams.close()
    return handle
