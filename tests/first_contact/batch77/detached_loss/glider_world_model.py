# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad
# expect: carrier = world, self.world, p, error
"""A glider learns to hold its height: a model of the air first, then the pilot in that model."""
import torch
from torch import nn
import torch.nn.functional as F


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 20), nn.Tanh(), nn.Linear(20, n_out))


class Agent:
    def __init__(self):
        self.world = mlp(3, 2)
        self.pilot = mlp(2, 1)
        self.world_opt = torch.optim.Adam(self.world.parameters(), lr=5e-3)
        self.pilot_opt = torch.optim.Adam(self.pilot.parameters(), lr=5e-3)

    def act(self, state):
        return torch.tanh(self.pilot(state))

    def dream(self, state, horizon=4):
        cost = 0.0
        for _ in range(horizon):
            action = self.act(state)
            state = state + 0.1 * self.world(torch.cat([state, action], 1))
            cost = cost + state[:, 0].pow(2).mean() + 0.01 * action.pow(2).mean()
        return cost / horizon

    def learn_world(self, state, action, following):
        change = 0.1 * self.world(torch.cat([state, action], 1))
        error = F.mse_loss(change, following - state)  # expect: place
        self.world_opt.zero_grad()
        error.backward()  # expect: place
        self.world_opt.step()
        return error.item()

    def learn_pilot(self, state):
        # the pilot must not bend the world to its wishes
        for p in self.world.parameters():  # expect: place
            p.requires_grad_(False)  # expect: place
        cost = self.dream(state)
        self.pilot_opt.zero_grad()
        cost.backward()
        self.pilot_opt.step()
        return cost.item()


def fly(agent, n=48):
    state = torch.randn(n, 2)
    with torch.no_grad():
        action = (agent.act(state) + 0.3 * torch.randn(n, 1)).clamp(-1, 1)
    sink = torch.stack([state[:, 1], action[:, 0] - 0.2 * state[:, 1]], 1)
    return state, action, state + 0.1 * sink


torch.manual_seed(8)
agent = Agent()
for flight in range(5):
    seen = fly(agent)
    error = agent.learn_world(*seen)
    cost = agent.learn_pilot(seen[0])
    print(f"flight {flight}: model {error:.4f}, pilot {cost:.4f}")
