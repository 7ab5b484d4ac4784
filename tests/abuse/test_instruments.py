"""Scripts that lay hands on what observes them: no false word may come of it unsaid."""

from __future__ import annotations

import pytest

from tests.abuse.attacking import Target

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating]

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


# Ways to the tracer's own objects and code: from there a script could write what it likes.
REACHING = {
    "frames of a hook": """
import sys, torch
def hook(grad):
    frame = sys._getframe()
    while frame is not None:
        session = frame.f_locals.get("self")
        frame = frame.f_back
w = torch.ones(3, requires_grad=True)
w.register_hook(hook)
(w * w).sum().backward()
""",
    "frames of a hook, by inspect": """
import inspect, torch
w = torch.ones(3, requires_grad=True)
w.register_hook(lambda grad: print([f.frame.f_locals.keys() for f in inspect.stack()]))
(w * w).sum().backward()
""",
    "frames of an error": """
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    step = error.__traceback__
    while step is not None:
        print(step.tb_frame.f_locals.keys())
        step = step.tb_next
""",
    "frames of threads": "import sys; print(sys._current_frames())",
    "the collector": """
import gc, sys
print(gc.get_referrers(sys.modules["sandbox.inside.core.emitter"].Emitter))
""",
    "an import": "import sandbox.inside.bundle",
    "a profile function": """
import sys, torch
sys.setprofile(lambda frame, event, argument: None)
w = torch.ones(3, requires_grad=True)
(w * w).sum().backward()
""",
    "a class": """
import sys
Emitter = sys.modules["sandbox.inside.core.emitter"].Emitter
emit = Emitter.emit
Emitter.emit = lambda self, record: emit(self, record) if record["t"] == "end" else None
""",
    "a function's code": """
import sys
def owner(code): return "inner"
sys.modules["sandbox.inside.core.frames"].owner.__code__ = owner.__code__
""",
    "a module": """
import sys
sys.modules["sandbox.inside.core.frames"].user_frame = lambda frame: None
""",
}


@pytest.mark.parametrize("way", REACHING)
async def test_who_reaches_for_the_tracer_is_reported(target: Target, way: str) -> None:
    result = await target.attack(REACHING[way], mode="trace")
    assert result.tampered, result


async def test_no_frame_above_the_script_leads_to_the_tracer(target: Target) -> None:
    """Nor does what the collector shows."""
    result = await target.attack(
        """
        import gc, sys
        frame = sys._getframe()
        held = gc.get_objects()
        while frame is not None:
            held += frame.f_locals.values()
            frame = frame.f_back
        tracer = ("core", "script_run", "tampering", "guard")
        kinds = {type(each).__module__ + "." + type(each).__name__ for each in held}
        print([k for k in kinds if k.startswith("sandbox.inside") and k.split(".")[2] in tracer])
        """,
        mode="trace",
    )
    assert result.stdout_tail == "['sandbox.inside.script_run.Attempt']\n"


async def test_honest_curiosity_is_no_tampering(target: Target) -> None:
    result = await target.attack(
        """
        import cProfile, gc, inspect, logging, traceback, torch
        def hook(grad):
            logging.warning("a gradient of %s", grad.norm())
            return grad
        w = torch.ones(3, requires_grad=True)
        w.register_hook(hook)
        profile = cProfile.Profile()
        profile.enable()
        (w * w).sum().backward()
        profile.disable()
        print(inspect.currentframe().f_lineno, inspect.stack()[0].lineno)
        print(sum(torch.is_tensor(each) for each in gc.get_objects()))
        try:
            raise ValueError("expected")
        except ValueError as error:
            traceback.print_exc()
            print(error.__traceback__.tb_frame.f_lineno)
        """,
        mode="trace",
    )
    assert (result.status, result.tampered) == ("finished", [])


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
