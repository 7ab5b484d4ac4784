# Online actor-critic on a random walk; the next value becomes the value of the next step.
import torch
from torch import nn

GAMMA = 0.9


def reset():
    return torch.zeros(2)


def env_step(position, action):
    position = position + torch.tensor([1.0, -1.0])[action] * torch.tensor([1.0, 0.5])
    done = position[0].abs() > 2
    return position, float(position[0] > 2), bool(done)


torch.manual_seed(3)
policy = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 2))
critic = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)

position = reset()
value = critic(position)
for t in range(12):
    dist = torch.distributions.Categorical(logits=policy(position))
    action = dist.sample()
    position, reward, done = env_step(position, action)
    next_value = critic(position)
    target = reward + GAMMA * next_value * (not done)
    delta = target - value
    loss = delta.pow(2).sum() - dist.log_prob(action) * delta.detach().squeeze()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    if done:
        position = reset()
        value = critic(position)
    else:
        value = next_value
