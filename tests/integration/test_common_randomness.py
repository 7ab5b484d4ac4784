"""Runs at fixed parameters draw alike, wherever a patch has moved or copied what draws."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing

HEAD = """\
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
rng = np.random.default_rng(3)
generator = torch.Generator().manual_seed(1)
net = nn.Linear(3, 1)
drop = nn.Dropout(0.5)
attention = nn.MultiheadAttention(4, 2, dropout=0.5)
loader = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=4, shuffle=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""

LOOP = """\
for _ in range(3):
    BEFORE
    drawn = DRAW
    print(drawn)
    optimizer.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
"""

DRAWS = {
    "a function of torch": "torch.randn(2).tolist()",
    "in place": "torch.empty(3).uniform_().tolist()",
    "a generator": "torch.randint(0, 99, (4,), generator=generator).tolist()",
    "dropout": "drop(torch.ones(6)).tolist()",
    "attention": "attention(*[torch.ones(3, 1, 4)] * 3)[1].tolist()",
    "a loader": "[batch[0].tolist() for batch in loader]",
    "NumPy, as of old": "np.random.rand(2).tolist()",
    "NumPy's generator": "rng.normal(size=2).tolist()",
    "random": "[random.random(), random.sample(range(99), 3)]",
}


def drawn(traced: Tracing, script: str) -> list[str]:
    result = traced(script, frozen_steps=True)
    assert result.code == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize("way", DRAWS)
def test_a_copied_draw_shifts_nothing(traced: Tracing, way: str) -> None:
    loop = LOOP.replace("DRAW", DRAWS[way])
    plain = drawn(traced, HEAD + loop.replace("BEFORE", "pass"))
    copied = drawn(traced, HEAD + loop.replace("BEFORE", f"drawn = {DRAWS[way]}"))
    assert copied == plain
    assert len(set(plain)) == 3  # each iteration has numbers of its own


def test_an_edit_next_to_the_draw_shifts_nothing(traced: Tracing) -> None:
    loop = LOOP.replace("BEFORE", "pass")
    one = drawn(traced, HEAD + loop.replace("DRAW", "torch.randn(2).tolist()"))
    edited = loop.replace("DRAW", "torch.randn(1 + 1).detach().clone().tolist()")
    other = drawn(traced, HEAD + edited)
    assert one == other


def test_equal_calls_draw_different_numbers(traced: Tracing) -> None:
    script = "import torch\na = torch.randn(3)\nb = torch.randn(3)\nprint(torch.equal(a, b))"
    assert drawn(traced, script) == ["False"]
    pair = "import torch\na, b = torch.randn(3), torch.randn(3)\nprint(torch.equal(a, b))"
    assert drawn(traced, pair) == ["False"]


def test_a_loop_that_draws_until_it_is_content_ends(traced: Tracing) -> None:
    script = """\
        import random
        import numpy as np
        import torch
        while torch.rand(()) < 0.9:
            pass
        while np.random.rand() < 0.9:
            pass
        while random.random() < 0.9:
            pass
        print("content")
        """
    assert drawn(traced, script) == ["content"]


def test_a_checkpoint_draws_the_same_when_it_is_computed_again(traced: Tracing) -> None:
    script = """\
        import torch
        from torch.utils.checkpoint import checkpoint
        x = torch.ones(50, requires_grad=True)
        y = x
        for _ in range(3):
            y = checkpoint(torch.nn.functional.dropout, y, use_reentrant=False)
        y.sum().backward()
        print(torch.equal(x.grad, y.detach()))
        """
    assert drawn(traced, script) == ["True"]


def test_a_loaders_workers_draw_alike(traced: Tracing) -> None:
    script = """\
        import torch
        from torch.utils.data import DataLoader, Dataset
        class Noise(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, i):
                EXTRA
                value = torch.rand(2)
                return value
        for batch in DataLoader(Noise(), batch_size=2, num_workers=2):
            print(batch.tolist())
        """
    one = drawn(traced, script.replace("EXTRA", "pass"))
    other = drawn(traced, script.replace("EXTRA", "value = torch.rand(2)"))
    assert one == other
    assert len(set(one)) == 2
