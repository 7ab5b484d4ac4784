"""Behaviour learning in imagination: the actor is trained through a known world model."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)

STATE, ACTION, HORIZON, BATCH = 4, 2, 6, 32
GAMMA, LAMBDA = 0.97, 0.95

A = torch.eye(STATE) * 0.95 + 0.03 * torch.randn(STATE, STATE)
B = 0.3 * torch.randn(ACTION, STATE)


def world(state, action):
    next_state = torch.tanh(state @ A + action @ B)
    reward = -(next_state ** 2).sum(-1) - 0.05 * (action ** 2).sum(-1)
    return next_state, reward


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(STATE, 32), nn.ELU(), nn.Linear(32, 2 * ACTION))

    def forward(self, state):
        mean, log_std = self.body(state).chunk(2, -1)
        return torch.tanh(mean + log_std.clamp(-4, 0).exp() * torch.randn_like(mean))


actor = Actor()
value_net = nn.Sequential(nn.Linear(STATE, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
value_opt = torch.optim.Adam(value_net.parameters(), lr=3e-3)


def imagine(start):
    states, rewards = [], []
    state = start
    for _ in range(HORIZON):
        state, reward = world(state, actor(state))
        states.append(state)
        rewards.append(reward)
    return torch.stack(states), torch.stack(rewards)


def lambda_returns(rewards, values):
    result = values[-1]
    out = []
    for t in reversed(range(HORIZON - 1)):
        mixed = (1 - LAMBDA) * values[t + 1] + LAMBDA * result
        result = rewards[t] + GAMMA * mixed
        out.insert(0, result)
    return torch.stack(out)


for iteration in range(25):
    start = torch.randn(BATCH, STATE)
    states, rewards = imagine(start)
    values = value_net(states).squeeze(-1)
    returns = lambda_returns(rewards, values)

    predicted = value_net(states[:-1].detach()).squeeze(-1)
    value_loss = F.mse_loss(predicted, returns.detach())
    value_opt.zero_grad()
    value_loss.backward()
    value_opt.step()

    returns = lambda_returns(rewards, value_net(states).squeeze(-1))
    actor_loss = -returns.mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    if iteration % 5 == 0:
        print(f"{iteration:3d}  value {value_loss.item():.3f}  actor {actor_loss.item():.3f}")
