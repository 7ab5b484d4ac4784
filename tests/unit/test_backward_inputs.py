"""What a name gathers for a backward that the run has not come to."""

from __future__ import annotations

import pytest

from analyzers.evidence import SilentFault
from analyzers.explain.backward_inputs import runs_backward_on
from analyzers.source.project import Project
from provenance import Referrer

BY_NAME = """
scores = []
for step in range(300):
    scores.append(policy(state))
    critic(state).sum().backward()
loss = -sum(s * r for s, r in zip(scores, rewards))
loss.backward()
"""
BY_ATTRIBUTE = """
class Agent:
    def act(self, state):
        self.scores.append(policy(state))

    def end(self):
        parts = []
        for score, reward in zip(self.scores, rewards):
            parts.append(-score * reward)
        torch.stack(parts).sum().backward()
"""
BY_A_FUNCTION = """
def update(parts):
    torch.stack(parts).sum().backward()

update(scores)
"""
ONLY_KEPT = """
scores = []
for step in range(300):
    loss = critic(state).sum()
    loss.backward()
    scores.append(policy(state))
print(sum(scores) / len(scores))
"""


@pytest.mark.parametrize(
    ("text", "path", "run_backward"),
    [
        (BY_NAME, "scores", True),
        (BY_ATTRIBUTE, "agent.scores", True),
        (BY_A_FUNCTION, "scores", True),
        (ONLY_KEPT, "scores", False),
    ],
)
def test_what_is_gathered_may_be_meant_for_a_backward(
    text: str, path: str, run_backward: bool
) -> None:
    holder = Referrer(path)
    fault = SilentFault("growing-graph", "observed", holders=(holder,))
    assert runs_backward_on(fault, Project({"train.py": text})) is run_backward
