import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
obs = torch.randn(24, 4)
behaviour = Categorical(logits=policy(obs).detach())
action = behaviour.sample()
old = behaviour.log_prob(action)
advantage = torch.randn(24)
for _ in range(4):
    ratio = (Categorical(logits=policy(obs)).log_prob(action) - old).exp()
    loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
