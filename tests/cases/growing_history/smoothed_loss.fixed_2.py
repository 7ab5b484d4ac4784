import math
import torch
from torch import nn

torch.manual_seed(2)
policy = nn.Linear(5, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
smooth = None
for step in range(14):
    obs = torch.randn(20, 5)
    dist = torch.distributions.Categorical(logits=policy(obs))
    act = dist.sample()
    reward = (act == obs[:, :3].argmax(1)).float() - 1 / 3
    loss = -(dist.log_prob(act) * reward).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    smooth = loss.detach() if smooth is None else 0.9 * smooth + 0.1 * loss.detach()
    if step % 5 == 0:
        print(step, "smoothed", smooth.item(), math.isfinite(smooth))
