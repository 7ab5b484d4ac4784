# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)
body, policy, value = nn.Linear(6, 12), nn.Linear(12, 3), nn.Linear(12, 1)
opt = torch.optim.Adam([*body.parameters(), *policy.parameters(), *value.parameters()], lr=1e-3)
for step in range(5):
    obs = torch.randn(24, 6)
    h = torch.tanh(body(obs))
    dist = torch.distributions.Categorical(logits=policy(h))
    act = dist.sample()
    v = value(h.detach()).squeeze(1)
    advantage = (obs[:, 0] - v).detach()
    loss = -(dist.log_prob(act) * advantage).mean() + (obs[:, 0] - v).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
