"""What `gradmend run --check` says of parameters without a gradient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradmend.run_wrapper.unused import described

SOURCE = """\
class Net(nn.Module):
    def __init__(self):
        self.body, self.head = nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 1))
        self.gate = nn.Parameter(torch.ones(4))
        self.twice = nn.Linear(4, 4)
scale = other.twice = torch.ones(1)
"""
HEAD = ["net.head.1.weight", "net.head.1.bias"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (HEAD, "`net.head`, train.py:3: nothing that ran uses it"),
        (
            [*HEAD, "net.gate"],
            "`net.head`, train.py:3, `net.gate`, train.py:4: nothing that ran uses them",
        ),
        (["net.twice.bias"], "`net.twice`: nothing that ran uses it"),  # made at two places
        (["scale"], "`scale`, train.py:6: nothing that ran uses it"),
    ],
)
def test_the_owners_are_named_with_the_only_line_that_makes_them(
    tmp_path: Path, names: list[str], said: str
) -> None:
    (tmp_path / "train.py").write_text(SOURCE)
    records = [_fault(names, doubtful=True)]
    assert described(records, names, {"train.py": str(tmp_path / "train.py")}) == said


def test_a_reason_is_said_only_for_what_the_run_saw() -> None:
    assert described([_fault(["a.weight"], doubtful=True)], ["a.weight", "b.weight"], {}) == (
        "`a`, `b`"
    )
    cut = [_fault(["a.weight"], uncalled=["b.weight"])]
    assert described(cut, ["a.weight"], {}) == "`a`: no backward call leads back to what uses it"
    assert described(cut, ["b.weight"], {}) == "`b`: nothing that ran uses it"
    many = [f"m{n}.weight" for n in range(6)]
    assert described([], many, {}) == "`m0`, `m1`, `m2`, `m3` and 2 more"


def _fault(names: list[str], **more: Any) -> dict[str, Any]:
    return {"t": "silent", "kind": "unfed-parameters", "params": names, **more}
