"""`--share URL`: the one way in which anything leaves the machine, and it says what."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

from gradmend.run_wrapper.diagnosing import FailedRun
from gradmend.run_wrapper.stderr import note

TIMEOUT_S = 60.0


def share(url: str, seen: FailedRun) -> None:
    """Send the sources and the trace to a server; say what was sent, and its address there."""
    others = [name for name in seen.sources if name != seen.entry]
    note(
        f"sending to {url}: the text of {', '.join([seen.entry, *others])}, and the trace of the "
        "run (lines, names, shapes, counts); no data, no weights, no output"
    )
    body = {
        "script": seen.sources.get(seen.entry, ""),
        "filename": seen.entry,
        "files": [{"path": name, "content": seen.sources[name]} for name in others],
        "trace": seen.process.records.decode("utf-8", "replace"),
    }
    request = urllib.request.Request(
        f"{url.rstrip('/')}/v1/diagnoses",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            note(f"the result is at {json.load(answer)['url']}")
    except urllib.error.HTTPError as error:
        note(f"{url} refused it: {_detail(error)}")
    except (OSError, ValueError, KeyError) as error:
        note(f"{url} cannot be reached: {error}")


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError):
        return f"{error.code} {error.reason}"
