"""Networks that follow another one, and arguments that one of several parts is not handed."""

from __future__ import annotations

import pytest

from analyzers.explain.target_networks import is_of_target_network, target_networks
from analyzers.repair.reconnect.siblings import handed_as_siblings
from analyzers.source.edits import apply
from analyzers.source.project import Project

MOVED = """\
def follow(self):
    for old, new in zip(self.slow.parameters(), self.fast.parameters()):
        WRITE
for step in range(9):
    follow(net)
"""


@pytest.mark.parametrize(
    ("write", "named"),
    [
        ("old.lerp_(new, 0.1)", {"self.slow"}),
        ("old.data.mul_(0.9).add_(new.data, alpha=0.1)", {"self.slow"}),
        ("old.data = 0.9 * old.data + 0.1 * new.data", {"self.slow"}),
        ("gaps.append(old - new)", set()),
    ],
)
def test_what_is_moved_towards_another_follows_it(write: str, named: set[str]) -> None:
    assert (
        target_networks(Project({"train.py": MOVED.replace("WRITE", write)}, "train.py")) == named
    )


def test_what_begins_as_a_copy_and_is_left_to_itself_does_not_follow() -> None:
    text = "net = copy.deepcopy(base)\nnet.load_state_dict(base.state_dict())\nloss(net(x))\n"
    project = Project({"train.py": text}, "train.py")
    assert not is_of_target_network("net.0.weight", project)
    again = "for step in steps:\n    late.load_state_dict(net.state_dict())\n"
    assert is_of_target_network("agent.late.0.weight", Project({"train.py": again}, "train.py"))


SIBLINGS = """\
class Net(nn.Module):
    def forward(self, x, weights=None):
        x = self.a(x, part(weights, "a"))
        x = self.b(x, weights["b.weight"])
        return self.c(x)
"""


def test_an_argument_is_handed_in_the_words_of_the_part_it_is_for() -> None:
    project = Project({"train.py": SIBLINGS}, "train.py")
    wanted = ["weights['c.weight']"]
    found = [apply(SIBLINGS, list(one.edits)) for one in handed_as_siblings(wanted, project)]
    assert found[0] == SIBLINGS.replace("self.c(x)", 'self.c(x, part(weights, "c"))')
    assert not list(handed_as_siblings(["inputs"], project))  # which no part is named for
