"""Scripts that lay hands on what observes them: no false word may come of it unsaid."""

from __future__ import annotations

import pytest

from tests.abuse.attacking import Target

pytestmark = pytest.mark.asyncio(loop_scope="session")

FAILING = """
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
loss.backward()
"""

TAMPERING = {
    "silent engine": """
import torch.autograd.graph as graph, torch.autograd as autograd
graph._engine_run_backward = autograd._engine_run_backward = lambda *a, **k: ()
""",
    "silent backward": "import torch; torch.Tensor.backward = lambda *a, **k: None",
    "no modules": """
import sys
for name in [n for n in sys.modules if n.startswith(("sandbox", "json", "traceback"))]:
    del sys.modules[name]
""",
    "fake modules": """
import sys, types
for name in [n for n in sys.modules if n.startswith("sandbox")]:
    sys.modules[name] = types.ModuleType(name)
""",
    "broken builtins": """
import builtins, os
builtins.open = builtins.isinstance = builtins.len = builtins.repr = None
""",
    "broken write": "import os; os.write = lambda *a: len(a[1])",
    "broken exit": "import os; os._exit = lambda code: None",
    "stolen descriptor": "import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 3)",
    "swallowed exception": "import sys; sys.excepthook = lambda *a: None",
    "left early": "import atexit, os; os._exit(0)",
}


@pytest.mark.parametrize("way", TAMPERING)
async def test_a_failing_script_never_passes_unnoticed(target: Target, way: str) -> None:
    """The run raises, or it says that somebody was at the instruments."""
    result = await target.attack(TAMPERING[way] + FAILING, mode="trace")
    clean = result.status in ("finished", "stopped") and not result.tampered
    assert not clean, result


async def test_a_raising_run_cannot_call_itself_finished(target: Target) -> None:
    """What the process did counts, not what it wrote about itself."""
    result = await target.attack(
        """
        import os
        os.write(3, b'{"t": "end", "reason": "finished"}\\n')
        raise RuntimeError("really")
        """,
        mode="trace",
    )
    assert result.status == "raised"
    assert result.raised is not None
    assert result.tampered
