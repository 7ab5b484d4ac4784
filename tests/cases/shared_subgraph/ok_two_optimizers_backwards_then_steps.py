# Two losses over one trunk, walked one after the other while nothing has been stepped yet.
import torch
from torch import nn

torch.manual_seed(0)
trunk, policy, value = nn.Linear(4, 12), nn.Linear(12, 3), nn.Linear(12, 1)
opt_p = torch.optim.Adam([*trunk.parameters(), *policy.parameters()], lr=1e-3)
opt_v = torch.optim.Adam(value.parameters(), lr=1e-2)
for _ in range(4):
    x = torch.randn(10, 4)
    h = torch.tanh(trunk(x))
    policy_loss = nn.functional.cross_entropy(policy(h), x[:, :3].argmax(1))
    value_loss = (value(h).squeeze(1) - x.norm(dim=1)).pow(2).mean()
    opt_p.zero_grad()
    opt_v.zero_grad()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
    opt_p.step()
    opt_v.step()
