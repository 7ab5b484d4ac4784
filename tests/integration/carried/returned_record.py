"""The state comes back among other things, in a plain dataclass that a rollout returns."""

import dataclasses

import torch
from torch import nn


@dataclasses.dataclass
class Rollout:
    rewards: list
    hidden: tuple
    length: int


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = nn.LSTMCell(3, 4)
        self.value = nn.Linear(4, 1)


def rollout(agent, hidden, length):
    rewards = []
    for _ in range(length):
        hidden = agent.core(torch.randn(2, 3), hidden)
        rewards.append(agent.value(hidden[0]).mean())
    return Rollout(rewards, hidden, length)


def improve(agent, optimizer, rounds):
    last = Rollout([], (torch.zeros(2, 4), torch.zeros(2, 4)), 0)
    for _ in range(rounds):
        last = rollout(agent, last.hidden, 3)
        loss = -torch.stack(last.rewards).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


torch.manual_seed(12)
agent = Agent()
improve(agent, torch.optim.Adam(agent.parameters()), 4)
