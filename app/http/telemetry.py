"""OpenTelemetry, by its standard `OTEL_…` settings, where its packages are installed."""

from __future__ import annotations

import importlib
import os

import structlog
from fastapi import FastAPI

log = structlog.get_logger()


def instrument(app: FastAPI) -> bool:
    """Trace requests when an exporter's endpoint is set; whether that was done.

    Needs the `telemetry` extra; without it, a set endpoint is answered by a warning.
    """
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    if not endpoint or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    try:
        trace = importlib.import_module("opentelemetry.trace")
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        export = importlib.import_module("opentelemetry.sdk.trace.export")
        otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        fastapi = importlib.import_module("opentelemetry.instrumentation.fastapi")
    except ImportError as error:
        log.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but a package is missing", name=error.name)
        return False
    os.environ.setdefault("OTEL_SERVICE_NAME", "gradmend")
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    fastapi.FastAPIInstrumentor.instrument_app(app, excluded_urls="healthz,readyz,metrics")
    return True
