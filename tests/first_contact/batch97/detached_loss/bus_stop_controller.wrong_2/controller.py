"""Autoregressive controller: it places the stops one after the other."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class Plans:
    stops: torch.Tensor
    log_prob: torch.Tensor
    entropy: torch.Tensor


class StopController(nn.Module):
    def __init__(self, blocks, stops, width=24, temperature=1.5):
        super().__init__()
        self.blocks, self.stops = blocks, stops
        self.temperature = temperature
        self.placed = nn.Embedding(blocks + 1, width)
        self.cell = nn.LSTMCell(width, width)
        self.choose = nn.Linear(width, blocks)

    def start(self, count):
        token = torch.full((count,), self.blocks)
        zeros = torch.zeros(count, self.cell.hidden_size)
        return token, (zeros, zeros)

    @torch.no_grad()
    def sample(self, count):
        token, state = self.start(count)
        stops, log_prob, entropy = [], 0.0, 0.0
        for _ in range(self.stops):
            state = self.cell(self.placed(token), state)
            policy = Categorical(logits=self.choose(state[0]) / self.temperature)
            token = policy.sample()
            stops.append(token)
            log_prob = log_prob + policy.log_prob(token)
            entropy = entropy + policy.entropy()
        return Plans(torch.stack(stops, 1), log_prob.requires_grad_(), entropy.requires_grad_())

    @torch.no_grad()
    def greedy(self):
        token, state = self.start(1)
        stops = []
        for _ in range(self.stops):
            state = self.cell(self.placed(token), state)
            token = self.choose(state[0]).argmax(1)
            stops.append(token)
        return torch.stack(stops, 1)
