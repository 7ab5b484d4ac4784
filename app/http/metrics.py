"""What Prometheus sees. Labels come from closed sets: never from what a client sent."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from app.change_schemas import ChangeFindings
from app.schemas import BaseFindings, Findings

STAGES = ("read", "queue", "reproduce", "verify", "total")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """One process's counts, on a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "gradmend_http_request_seconds",
            "Time to the end of an HTTP answer",
            ("method", "route", "status"),
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._stages = Histogram(
            "gradmend_stage_seconds",
            "Time of a diagnosis by stage",
            ("stage",),
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._verdicts = Counter(
            "gradmend_diagnoses", "Finished diagnoses", ("verdict",), registry=self.registry
        )
        self._changes = Counter(
            "gradmend_verifications",
            "Finished verifications",
            ("verdict",),
            registry=self.registry,
        )
        self._patterns = Counter(
            "gradmend_causes", "First causes by pattern", ("pattern",), registry=self.registry
        )
        self._runs = Counter(
            "gradmend_sandbox_runs", "First runs by outcome", ("status",), registry=self.registry
        )
        self._patches = Counter(
            "gradmend_patches", "Patches by verification", ("status",), registry=self.registry
        )
        self._complaints = Counter(
            "gradmend_wrong_answers", "Results that somebody called wrong", registry=self.registry
        )
        self._refused = Counter(
            "gradmend_refused", "Requests refused", ("reason",), registry=self.registry
        )
        self._lag = Histogram(
            "gradmend_loop_lag_seconds",
            "How late the event loop is, looked at twenty times a second",
            registry=self.registry,
            buckets=BUCKETS,
        )
        self.waiting = Gauge(
            "gradmend_queue_waiting", "Diagnoses that wait", registry=self.registry
        )

    def complained(self) -> None:
        """Count a result that somebody reported as wrong."""
        self._complaints.inc()

    def lagged(self, seconds: float) -> None:
        """Record by how much the event loop was late."""
        self._lag.observe(seconds)

    def requested(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered HTTP request; `route` is the route's template."""
        self._requests.labels(method, route, status).observe(seconds)

    def finished(self, findings: BaseFindings) -> None:
        """Count a request that got its result."""
        if isinstance(findings, Findings):
            self._diagnosed(findings)
        elif isinstance(findings, ChangeFindings):
            self._changes.labels(findings.verdict or "none").inc()

    def _diagnosed(self, findings: Findings) -> None:
        self._verdicts.labels(findings.verdict or "none").inc()
        for stage in STAGES:
            self._stages.labels(stage).observe(getattr(findings.timings_ms, stage) / 1000)
        if findings.causes:
            self._patterns.labels(findings.causes[0].pattern).inc()
        if findings.run is not None:
            self._runs.labels(findings.run.status).inc()
        for patch in findings.patches:
            self._patches.labels(patch.verification.status).inc()

    def failed(self) -> None:
        """Count a diagnosis that was given up."""
        self._verdicts.labels("failed").inc()

    def refused(self, reason: str) -> None:
        """Count a refused request: `queue`, `rate`, `size`, `key`."""
        self._refused.labels(reason).inc()

    def text(self) -> bytes:
        """Return the metrics in the exposition format."""
        return generate_latest(self.registry)
