import torch
import torch.nn as nn


class Critic(nn.Module):
    def __init__(self, n_state, n_gates, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_state, width), nn.ReLU(), nn.Linear(width, n_gates))

    def forward(self, state):
        return self.net(state)


class Twins(nn.Module):
    """Two critics; the smaller of their opinions is the safer one."""

    def __init__(self, n_state, n_gates):
        super().__init__()
        self.first = Critic(n_state, n_gates)
        self.second = Critic(n_state, n_gates)

    def forward(self, state):
        return self.first(state), self.second(state)

    def worth(self, state):
        return torch.min(*self(state)).max(dim=1).values
