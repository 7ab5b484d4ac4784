"""Every example that a page shows: the broken one is recognised and fixed, the fixed one runs."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.explain.pattern import Pattern, patterns
from analyzers.request.explaining import explanation_of
from tests.fixing import first_that_runs, recognise
from tests.plain_runs import Given, PlainRuns
from tests.tracing import Tracing

SHOWN = list(patterns().values())

# What the pages of reused graphs take for granted, so that they can be short.
GIVEN = """\
import torch
from torch import nn

torch.manual_seed(0)
model, trunk, encoder, head, head_a, head_b, generator, discriminator = (
    nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(8)
)
rnn, cell = nn.RNN(16, 16), nn.RNNCell(8, 8)
criterion = nn.MSELoss()


def contrast(feature, bank):
    return (feature.mean(0) @ bank.mean(0).T).pow(2).mean()


def random():
    return torch.randn(5, 8, 16)


x, y, y_a, y_b, noise, zeros, ones, inputs, targets = (random() for _ in range(9))
batches = [(random(), random()) for _ in range(4)]
query_sets = [(random(), random()) for _ in range(2)]
sequence, k = [torch.randn(1, 8) for _ in range(12)], 3
log_scale = nn.Parameter(torch.zeros(16))
lr, weight = 0.1, torch.randn(16, 16, requires_grad=True)
inner = (x @ weight - y).pow(2).mean()
trained = nn.ModuleList([model, trunk, encoder, head, head_a, head_b, rnn, cell])
optimizer = torch.optim.SGD([*trained.parameters(), log_scale], lr=0.1)
g_optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
d_optimizer = torch.optim.SGD(discriminator.parameters(), lr=0.1)
outer_optimizer = torch.optim.SGD([weight], lr=0.1)
"""


def example(pattern: Pattern, title: str) -> str:
    """The literal block of the docstring below `Broken::` or `Fixed::`."""
    assert pattern.__doc__ is not None
    _, heading, rest = pattern.__doc__.partition(f"{title}::\n")
    assert heading, f"{pattern.NAME} shows no example under {title}::"
    lines = rest.splitlines()
    end = next((i for i, line in enumerate(lines) if line and not line.startswith("    ")), None)
    text = textwrap.dedent("\n".join(lines[:end])).strip() + "\n"
    return text if "import torch" in text else f"{GIVEN}\n{text}"


def each_pattern() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("pattern", SHOWN, ids=lambda pattern: pattern.NAME)


@each_pattern()
def test_the_broken_example_is_recognised_and_a_patch_of_it_runs(
    pattern: Pattern, traced: Tracing, plain: PlainRuns
) -> None:
    script = example(pattern, "Broken")
    alone = plain.outcome(Given({"train.py": script}))
    assert (alone.error is None) == (pattern.FAMILY == "silent")
    found = recognise(traced, script)
    assert found is not None
    assert found.match.pattern == pattern.NAME
    assert found.project.code(found.match.location.file, found.match.location.line)
    explanation = explanation_of(found.match, found.project)
    assert f"line {found.match.location.line}" in explanation
    _, record, mended = first_that_runs(found, plain)
    assert record.error is None
    if pattern.FAMILY == "silent":
        again = recognise(traced, mended)
        assert again is None or again.match.pattern != pattern.NAME


@each_pattern()
def test_the_fixed_example_runs_and_nothing_is_found_in_it(
    pattern: Pattern, traced: Tracing, plain: PlainRuns
) -> None:
    script = example(pattern, "Fixed")
    assert plain.outcome(Given({"train.py": script})).error is None
    assert recognise(traced, script) is None
