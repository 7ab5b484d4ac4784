"""How to install an extra of this very Gradmend, which no package index may have."""

from __future__ import annotations

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution


def pip_install(extra: str = "") -> str:
    """Return the command that installs Gradmend with an extra from where this one came from: a
    checkout, a repository, or an index (PEP 610, `direct_url.json`)."""
    return f"pip install {shlex.quote(requirement(extra, _direct_url()))}"


def requirement(extra: str, direct_url: str) -> str:
    """Return what pip is given; an empty `direct_url` is an installation from an index."""
    named = f"gradmend[{extra}]" if extra else "gradmend"
    if not direct_url:
        return named
    origin = json.loads(direct_url)
    kind = origin.get("vcs_info")
    url = f"{kind['vcs']}+{origin['url']}@{kind['commit_id']}" if kind else origin["url"]
    return f"{named} @ {url}"


def _direct_url() -> str:
    try:
        return distribution("gradmend").read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return ""
