from typing import NamedTuple

import torch
import torch.nn as nn


class Carry(NamedTuple):
    core: torch.Tensor
    trace: torch.Tensor


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = nn.GRUCell(4, 8)
        self.gate = nn.Linear(8, 8)
        self.policy = nn.Linear(8, 2)

    def initial(self):
        return Carry(torch.zeros(1, 8), torch.zeros(1, 8))

    def forward(self, obs, carry):
        core = self.core(obs, carry.core)
        trace = torch.sigmoid(self.gate(core)) * carry.trace + core
        return self.policy(trace), Carry(core, trace)


torch.manual_seed(0)
agent = Agent()
opt = torch.optim.Adam(agent.parameters(), lr=1e-3)
carry = agent.initial()
for episode in range(5):
    carry = carry._replace(core=carry.core.detach())
    log_probs, rewards = [], []
    for step in range(4):
        logits, carry = agent(torch.randn(1, 4), carry)
        dist = torch.distributions.Categorical(logits=logits)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action.item()))
    ret = sum(rewards)
    loss = -(torch.cat(log_probs) * ret).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
