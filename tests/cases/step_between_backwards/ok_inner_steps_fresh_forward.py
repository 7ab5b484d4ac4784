# expect: pattern = none
# expect: raises = nothing
"""PPO-like: several passes over one rollout, each with its own forward."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(6)
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=3e-4)

for rollout in range(3):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        old = Categorical(logits=net(obs))
        act = old.sample()
        old_logp = old.log_prob(act)
    adv = obs[:, 0] * (act.float() * 2 - 1)
    for epoch in range(4):
        for idx in torch.randperm(64).split(16):
            logp = Categorical(logits=net(obs[idx])).log_prob(act[idx])
            ratio = (logp - old_logp[idx]).exp()
            loss = -torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("rollout", rollout, "loss", round(loss.item(), 4))
