"""The compose file: who may touch the Docker socket, and what the others go without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SOCKET = "docker.sock"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return found


def test_only_the_launcher_holds_the_docker_socket(services: dict[str, Any]) -> None:
    holders = {
        name
        for name, service in services.items()
        if any(SOCKET in volume for volume in service.get("volumes", []))
    }
    assert holders == {"sandbox"}


def test_launcher_is_on_no_network(services: dict[str, Any]) -> None:
    assert services["sandbox"]["network_mode"] == "none"
    assert "ports" not in services["sandbox"]


@pytest.mark.parametrize("name", ["web", "worker", "sandbox"])
def test_our_services_have_no_privileges(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert "privileged" not in service


def test_only_web_publishes_a_port_and_on_loopback(services: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"web": ["${GRADMEND_PUBLISH:-127.0.0.1:8000}:8000"]}


def test_web_image_installs_no_torch() -> None:
    web, _, sandbox = (ROOT / "Dockerfile").read_text().partition("AS sandbox")
    assert "'.[server,postgres]'" in web
    assert "[sandbox" not in web
    assert '".[sandbox,container${PACKAGES}]"' in sandbox
