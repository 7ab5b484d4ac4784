"""Diagnoses for tests of the API: one that finds a fault, one that never ends."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx

from app.diagnose import Progress
from app.schemas import (
    Cause,
    Check,
    Diagnosis,
    DiagnosisRequest,
    Findings,
    Location,
    Patch,
    Verification,
)

URL = "/v1/diagnoses"
SCRIPT = {"script": "x = 'unmistakable'\n"}
DIFF = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-x\n+y\n"
CAUSE = Cause(
    pattern="recurrent-state",
    title="t",
    confidence=0.9,
    source="trace",
    location=Location(file="train.py", line=1),
    explanation="e",
    learn_more="/patterns/recurrent-state",
)
PATCH = Patch(
    n=1,
    strategy="detach",
    title="t",
    diff=DIFF,
    script="y",
    snippet="y",
    gradients="same",
    verification=Verification(status="passed", checks=[Check(name="runs", status="passed")]),
)


async def fixing(request: DiagnosisRequest, progress: Progress) -> Findings:
    await progress.cause(CAUSE)
    await progress.patch(PATCH)
    return Findings(verdict="confirmed", summary="s", causes=[CAUSE], patches=[PATCH])


async def never(request: DiagnosisRequest, progress: Progress) -> Findings:
    await progress.cause(CAUSE)
    await asyncio.sleep(3600)
    raise AssertionError("unreachable")


async def made(http: httpx.AsyncClient, **query: Any) -> Diagnosis:
    response = await http.post(URL, json=SCRIPT, params=query)
    assert response.status_code in (200, 202), response.text
    return Diagnosis.model_validate(response.json())


def events(response: httpx.Response) -> list[tuple[int, str, Any]]:
    """The events of a finished stream: id, kind, data."""
    blocks = re.findall(r"id: (\d+)\r\nevent: (\w+)\r\ndata: (.*)\r\n", response.text)
    return [(int(seq), kind, json.loads(data)) for seq, kind, data in blocks]
