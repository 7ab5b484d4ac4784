"""Send requests to the Docker Engine through its client library; all of them block."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

import docker  # type: ignore[import-untyped]
from docker.errors import DockerException, NotFound  # type: ignore[import-untyped]

from sandbox.walls.limits import TCP_BUFFERS, Limits

LABEL = "dev.gradmend.sandbox"
_SPARE_TASKS = 8  # pid 1, the reaper, and room for the watch to see that the limit is reached
_SPARE_MEMORY_MIB = 768  # torch itself, and files in the scratch directories

# The library does not wrap what its HTTP client raises when the Engine goes away.
EngineError = (DockerException, OSError)


@dataclass(frozen=True)
class Shape:
    """The settings that all containers of a launcher share."""

    image: str
    runtime: str
    entry: str
    environment: dict[str, str]
    limits: Limits
    owner: str

    def settings(self, *, inodes: bool) -> dict[str, Any]:
        """Return keyword arguments of the Engine's `create`; the walls that it raises are all here.

        `inodes`: whether the Engine accepts a limit on a tmpfs's inodes. The watch counts them
        anyway.
        """
        limits = self.limits
        scratch = f"size={limits.work_mib}m,mode=1777"
        if inodes:
            scratch += f",nr_inodes={limits.inodes}"
        memory = f"{limits.memory_mib + _SPARE_MEMORY_MIB}m"
        return {
            "image": self.image,
            "command": ["python", "-P", "-m", "sandbox.container.guest", self.entry],
            "environment": self.environment,
            "labels": {LABEL: self.owner},
            "runtime": self.runtime,
            "network_mode": "none",
            "sysctls": TCP_BUFFERS,
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


class DockerEngine:
    """A connection to the Engine that the environment names (`DOCKER_HOST`): Docker, or Podman."""

    def __init__(self) -> None:
        self._client: Any = docker.from_env()
        parts = self._client.version().get("Components", [])
        self._is_podman = any("Podman" in part.get("Name", "") for part in parts)

    def start(self, shape: Shape) -> tuple[str, socket.socket]:
        """Start a container. Return its id and the socket of its standard streams."""
        settings = shape.settings(inodes=not self._is_podman)
        self._expect_runtime(shape.runtime)
        container = self._client.containers.create(**settings)
        try:
            streams = container.attach_socket(
                params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            )
            container.start()
        except BaseException:
            self.remove(container.id)
            raise
        return container.id, _plain_socket(streams)

    def _expect_runtime(self, asked: str) -> None:
        """Check that the runtime is the requested one: Docker refuses an unknown runtime; Podman
        silently uses its own.
        """
        if self._is_podman:
            taken = self._client.info()["DefaultRuntime"]
            if taken != asked:
                raise DockerException(f"Podman runs containers with {taken}, not with {asked}")

    def remove(self, name: str) -> None:
        """End a container and remove what it leaves; it may have gone already."""
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
    """Return the plain socket, which the library wraps differently for each transport."""
    inner = getattr(streams, "_sock", streams)
    handle = socket.socket(fileno=socket.dup(inner.fileno()))
    handle.setblocking(False)
    streams.close()
    return handle
