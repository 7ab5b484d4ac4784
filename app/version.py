"""Which version this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """The installed package's version."""
    try:
        return version("gradmend")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0"
