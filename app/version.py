"""Which version this is, and which versions of others are installed here."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed(package: str) -> str:
    """Return the installed version of a package; empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def package_version() -> str:
    """Return Gradmend's own version; `0` in a checkout that was never installed."""
    return installed("gradmend") or "0"
