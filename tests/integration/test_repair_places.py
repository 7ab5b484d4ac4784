"""Repairs at the place where the script does the like already: in the method that empties other
lists, at the call whose function takes arrays too, in the copy of an object that goes on, at the
head of a pass."""

from __future__ import annotations

import pytest

from tests.fixing import first_that_runs, recognise
from tests.plain_runs import PlainRuns
from tests.tracing import Tracing

FORGOTTEN_LIST = """\
    import torch
    from torch import nn

    class Steps:
        def __init__(self):
            self.logs, self.gains, self.spreads = [], [], []

        def add(self, log, gain, spread):
            self.logs.append(log)
            self.gains.append(gain)
            self.spreads.append(spread)

        def clear(self):
            del self.logs[:]
            del self.gains[:]

    class Player:
        def __init__(self):
            self.net, self.steps = nn.Linear(3, 2), Steps()
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def act(self):
            turn = torch.distributions.Categorical(logits=self.net(torch.randn(3)))
            move = turn.sample()
            self.steps.add(turn.log_prob(move), float(move), turn.entropy())

        def learn(self):
            gains = torch.tensor(self.steps.gains)
            loss = -(torch.stack(self.steps.logs) * gains).sum()
            loss = loss - torch.stack(self.steps.spreads).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.steps.clear()

    player = Player()
    for game in range(4):
        for _ in range(3):
            player.act()
        player.learn()
    """

ARRAYS_TOO = """\
    import numpy as np
    import torch
    from torch import nn

    def spread(values):
        values = np.asarray(values)
        return float(np.median(np.abs(values - np.median(values))))

    seen = np.random.default_rng(0).normal(size=20)
    wide = spread(seen)
    net, x = nn.Linear(1, 1), torch.randn(20, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        rest = net(x).squeeze(1) - torch.as_tensor(seen).float()
        keep = (rest.abs() < 3 * wide * spread(rest)).float()
        loss = (keep * rest.pow(2)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

GOES_ON = """\
    import copy
    import torch
    from torch import nn

    class Boat:
        def __init__(self, at):
            self.at, self.turns = at, []

        def sail(self, wind, turn):
            self.at = self.at + wind * turn
            self.turns.append(turn)

    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        wind, fleet = net(torch.randn(2)), [Boat(torch.zeros(2))]
        for leg in range(2):
            boats = fleet
            fleet = []
            for boat in boats:
                for turn in (0.5, 1.0):
                    other = copy.deepcopy(boat)
                    other.sail(wind, turn)
                    fleet.append(other)
        assert [len(boat.turns) for boat in fleet] == [2, 2, 2, 2]
        loss = torch.stack([boat.at for boat in fleet]).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

BOOTSTRAPPED = """\
    import torch
    from torch import nn
    net, gamma = nn.Linear(3, 1), 0.9
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    state = torch.randn(3)
    value = net(state)
    for step in range(4):
        state = torch.randn(3)
        after = net(state)
        error = 1.0 + gamma * after - value
        optimizer.zero_grad()
        error.pow(2).sum().backward()
        optimizer.step()
        value = after
    """


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (FORGOTTEN_LIST, "        del self.gains[:]\n        del self.spreads[:]\n"),
        (ARRAYS_TOO, "spread(rest.detach())"),
        (GOES_ON, "other = copy.copy(boat)\n                other.turns = list(boat.turns)"),
        (BOOTSTRAPPED, "value = net(state)\n"),
    ],
)
def test_the_repair_stands_where_the_script_does_the_like(
    traced: Tracing, plain: PlainRuns, script: str, text: str
) -> None:
    found = recognise(traced, script)
    assert found is not None
    proposals = [one for one in found.proposals if text in found.files(one)["train.py"]]
    assert proposals, [one.title for one in found.proposals]
    found.proposals[:] = proposals
    first_that_runs(found, plain)
