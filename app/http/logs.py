"""Structured logs. They never hold a script: errors are logged by type and place, not by message,
since messages quote the values at hand."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, Literal

import structlog
from asgi_correlation_id import correlation_id


def configure(level: str, form: Literal["console", "json"]) -> None:
    """Send every log line of the process to stderr, in one form."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _request_id,
        _frames_only,
    ]
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for chatty in ("uvicorn.access", "procrastinate", "alembic", "httpx", "sqlalchemy"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))


def _request_id(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if (request_id := correlation_id.get()) is not None:
        event["request"] = request_id
    return event


def _frames_only(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace an exception by its type and the places it came through."""
    caught = event.pop("exc_info", None)
    if caught is True:
        caught = sys.exc_info()
    error = caught[1] if isinstance(caught, tuple) else caught
    if isinstance(error, BaseException):
        frames = traceback.extract_tb(error.__traceback__)
        event["error"] = type(error).__name__
        event["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    return event
