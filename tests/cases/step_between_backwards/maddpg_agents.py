# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = actor_losses, loss
"""Cooperative agents: every actor is scored by every critic."""
import torch
from torch import nn

N_AGENTS, OBS = 3, 4


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(OBS, 12), nn.Tanh(), nn.Linear(12, 1))
        self.critic = nn.Sequential(nn.Linear(OBS + N_AGENTS, 12), nn.ReLU(), nn.Linear(12, 1))
        self.actor_opt = torch.optim.SGD(self.actor.parameters(), lr=0.01)

    def value(self, obs, actions):
        return self.critic(torch.cat([obs, actions], dim=1)).mean()


def train_actors(agents, obs):
    actor_losses = []
    for i, agent in enumerate(agents):
        actions = torch.cat([a.actor(o) for a, o in zip(agents, obs)], dim=1)  # expect: place
        actor_losses.append(-agent.value(obs[i], actions))  # expect: place
    for agent, loss in zip(agents, actor_losses):
        agent.actor_opt.zero_grad()
        loss.backward()  # expect: place
        agent.actor_opt.step()  # expect: place
    return [loss.item() for loss in actor_losses]


torch.manual_seed(2)
agents = [Agent() for _ in range(N_AGENTS)]
for it in range(3):
    print(it, train_actors(agents, torch.randn(N_AGENTS, 10, OBS)))
