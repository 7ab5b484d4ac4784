"""Programs that use the API, shown at /docs as they are tested."""

from __future__ import annotations

CURL = """\
curl -s -F script=@train.py '{base}/v1/diagnoses?wait=60&view=brief'
"""

PYTHON = """\
import time
from pathlib import Path

import httpx

with httpx.Client(base_url="{base}") as http:
    answer = http.post("/v1/diagnoses", json={{"script": Path("train.py").read_text()}})
    answer.raise_for_status()
    while answer.json()["status"] in ("queued", "running"):  # it answered 202: not finished yet
        time.sleep(float(answer.headers.get("Retry-After", "1")))
        answer = http.get(f"/v1/diagnoses/{{answer.json()['id']}}")
        answer.raise_for_status()
    found = answer.json()
    print(found["summary"])
    for patch in found["patches"]:
        if patch["level"] == "safe":
            print(patch["diff"])
            break
"""


def example(text: str, base: str) -> str:
    """Return an example for the service at this address."""
    return text.format(base=base)
