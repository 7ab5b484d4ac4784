# Two agents, each with a recurrent state of its own that outlives an update.
from __future__ import annotations

import torch
import torch.nn as nn


class Agent(nn.Module):
    def __init__(self, obs_dim: int, n_actions: int, width: int = 12) -> None:
        super().__init__()
        self.enc = nn.Linear(obs_dim, width)
        self.rnn = nn.GRUCell(width, width)
        self.q = nn.Linear(width, n_actions)

    def forward(self, obs, h):
        h = self.rnn(torch.relu(self.enc(obs)), h)
        return self.q(h), h.detach()


class Learner:
    def __init__(self, names: list[str], envs: int) -> None:
        self.agents = nn.ModuleDict({name: Agent(4, 3) for name in names})
        self.mixer = nn.Linear(len(names), 1)
        self.hidden = {name: torch.zeros(envs, 12) for name in names}
        self.optim = torch.optim.RMSprop([*self.agents.parameters(), *self.mixer.parameters()], lr=5e-4)

    def unroll(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        chosen = []
        for name, agent in self.agents.items():
            values = []
            for obs in observations[name]:
                q, self.hidden[name] = agent(obs, self.hidden[name])
                values.append(q.max(dim=-1).values)
            chosen.append(torch.stack(values))
        return self.mixer(torch.stack(chosen, dim=-1)).squeeze(-1)

    def train(self, observations, rewards, gamma: float = 0.9) -> float:
        q_tot = self.unroll(observations)
        target = rewards[:-1] + gamma * q_tot[1:].detach()
        td = (q_tot[:-1] - target).square().mean()
        self.optim.zero_grad()
        td.backward()
        self.optim.step()
        return td.item()


torch.manual_seed(0)
learner = Learner(["hunter", "prey"], envs=5)
for update in range(4):
    observations = {name: torch.randn(6, 5, 4) for name in ("hunter", "prey")}
    print(update, learner.train(observations, torch.rand(6, 5)))
