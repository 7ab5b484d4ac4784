"""The web process."""

from __future__ import annotations

from types import FrameType

import structlog
import uvicorn

from app.allocator import give_back
from app.http.logs import configure
from app.http.protocol import HEAD_BYTES, BoundedProtocol
from app.main import create_app
from app.service import Service
from app.settings import Settings

CLOSING_S = 5  # for answers under way, once nobody waits for a diagnosis any more

log = structlog.get_logger()


class GracefulServer(uvicorn.Server):
    """A server whose first signal also ends the calls that wait and the event streams."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.close_waiting()
        super().handle_exit(sig, frame)


def run_server(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C; running diagnoses end, or are handed back."""
    give_back()
    configure(settings.log_level, settings.log_format)
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=CLOSING_S,
        http=BoundedProtocol,
        ws="none",
        h11_max_incomplete_event_size=HEAD_BYTES,
        limit_concurrency=settings.max_connections,
    )
    log.info("gradmend serves", address=f"http://{settings.host}:{settings.port}")
    GracefulServer(config, app.state.service).run()
