# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(9)
policy, baseline = nn.Linear(4, 3), nn.Linear(4, 1)
opt_p = torch.optim.Adam(policy.parameters(), lr=1e-2)
opt_b = torch.optim.Adam(baseline.parameters(), lr=1e-2)

for episode in range(4):
    log_probs, values, rewards = [], [], []
    state = torch.randn(4)
    for t in range(8):
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(baseline(state).squeeze())
        rewards.append(float(action == state[:3].argmax()))
        state = 0.7 * state + 0.5 * torch.randn(4)
    returns, R = [], 0.0
    for r in reversed(rewards):
        R = r + 0.95 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    values = torch.stack(values)
    advantage = returns - values.detach()
    policy_loss = -(torch.stack(log_probs) * advantage).sum()
    value_loss = (values - returns).square().mean()
    opt_p.zero_grad()
    policy_loss.backward()
    opt_p.step()
    opt_b.zero_grad()
    value_loss.backward()
    opt_b.step()
    print(episode, sum(rewards), value_loss.item())
