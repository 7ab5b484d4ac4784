"""Whether a script's samples should be looked at more closely."""

from __future__ import annotations

import pytest

from analyzers.source.project import Project
from analyzers.source.samples import sampled_without_log_prob


@pytest.mark.parametrize(
    ("script", "closer"),
    [
        ("from torch.distributions import Normal\nz = Normal(mean, std).sample()\nkl = mean", True),
        ("import torch\nq = torch.distributions.Normal(mean, std)\nz = q.sample()\nelbo = z", True),
        ("import torch\nz = torch.distributions.Normal(mean, std).sample()", False),
        ("from torch.distributions import Normal\nz = Normal(mean, std).rsample()", False),
        ("import torch\nbatch = buffer.sample(32)", False),
        (
            "from torch.distributions import Categorical\n"
            "choice = Categorical(logits=logits)\n"
            "action = choice.sample()\n"
            "loss = -choice.log_prob(action)",
            False,
        ),
    ],
)
def test_samples_without_a_log_probability_are_looked_at(script: str, *, closer: bool) -> None:
    assert sampled_without_log_prob(Project({"main.py": script}, "main.py")) is closer
