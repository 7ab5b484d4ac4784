# The state crosses many steps and many losses, but there is one backward, after the last.
import torch
from torch import nn

torch.manual_seed(0)
cell, policy = nn.LSTMCell(3, 8), nn.Linear(8, 2)
opt = torch.optim.Adam([*cell.parameters(), *policy.parameters()], lr=1e-3)
for episode in range(3):
    hx = cx = torch.zeros(1, 8)
    log_probs, rewards = [], []
    for t in range(7):
        obs = torch.randn(1, 3)
        hx, cx = cell(obs, (hx, cx))
        dist = torch.distributions.Categorical(logits=policy(hx))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action.item() == int(obs.sum() > 0)))
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.cat(log_probs) * (returns - returns.mean())).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
