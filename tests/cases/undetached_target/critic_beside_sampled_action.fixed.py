import torch
from torch import nn, optim

torch.manual_seed(23)

body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
policy_head, value_head = nn.Linear(16, 2), nn.Linear(16, 1)
policy_opt = optim.Adam([*body.parameters(), *policy_head.parameters()], lr=1e-2)
critic_opt = optim.Adam(value_head.parameters(), lr=1e-2)


def act(state, action):
    return torch.tanh(state + 0.1 * (2 * action - 1)), 1.0 - state.abs().mean().item()


state = torch.randn(1, 4)
for step in range(12):
    features = body(state)
    dist = torch.distributions.Categorical(logits=policy_head(features))
    action = dist.sample()
    value = value_head(features.detach())
    state, reward = act(state, action.item())
    critic_loss = (value - reward).pow(2).mean()
    policy_loss = -(dist.log_prob(action) * (reward - value.detach())).mean()

    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()
