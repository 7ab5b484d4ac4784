"""pytest `--gradmend`: a test that fails with an autograd error gets its cause under its traceback.

Every pytest with Gradmend installed loads this, so it imports nothing before the option is given.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("gradmend", "causes of autograd errors")
    group.addoption(
        "--gradmend", action="store_true", help="tell the cause of autograd errors in tests"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add a section to the report of a test that failed so."""
    report = yield
    if report.failed and call.excinfo is not None and item.config.getoption("gradmend"):
        from gradmend.explaining import explain

        explanation = explain(call.excinfo.value)
        if explanation is not None:
            report.sections.append(("gradmend", str(explanation)))
    return report
