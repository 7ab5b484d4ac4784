"""What the tracer knows of loaded modules without looking at each of them."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from sandbox.inside import guard, resources, stubs
from sandbox.inside.core.own_modules import PACKAGE, own_modules
from sandbox.inside.script import versions


def test_the_tracers_modules_are_all_found_through_its_packages() -> None:
    stubs.load()
    resources.load()
    loaded = {name: m for name, m in sys.modules.items() if name.startswith(f"{PACKAGE}.")}
    assert own_modules() == loaded
    assert guard.__name__ in loaded


@pytest.mark.parametrize("removed", [False, True], ids=["kept", "removed"])
def test_versions_are_the_parents_and_then_the_runs(
    monkeypatch: pytest.MonkeyPatch, removed: bool
) -> None:
    def stated(name: str, version: object) -> None:
        module = ModuleType(name)
        vars(module)["__version__"] = version
        monkeypatch.setitem(sys.modules, name, module)

    monkeypatch.setattr(sys, "modules", {"sys": sys})
    monkeypatch.setattr(versions, "_prepared", {})
    monkeypatch.setattr(versions, "_seen", [])
    stated("early", "1.0")
    stated("last_of_the_parent", "2.0")
    versions.prepare()
    stated("late.part", "3.0")
    stated("late", "3.0")
    stated("counted", 4)
    stated("latest", "5.0")
    if removed:
        del sys.modules["last_of_the_parent"]
    expected = {"early": "1.0", "last_of_the_parent": "2.0", "late": "3.0", "latest": "5.0"}
    assert versions.imported() == expected
