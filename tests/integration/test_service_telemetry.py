"""With OpenTelemetry's packages and its standard settings, requests are traced."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.processes import Server, eventually


class Collector(HTTPServer):
    """Keeps what is posted to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receive)
        self.posted: list[tuple[str, bytes]] = []


class _Receive(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.posted.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        yield collector
        collector.shutdown()


@pytest.mark.rotating(4)
def test_requests_are_traced_without_scripts(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    server = Server(tmp_path, sandbox="none")
    server.ask("unmistakable = 1")
    eventually(lambda: any(b"/v1/diagnoses" in body for _, body in collector.posted), 20)
    server.end()
    assert {path for path, _ in collector.posted} == {"/v1/traces"}
    assert not any(b"unmistakable" in body for _, body in collector.posted)
