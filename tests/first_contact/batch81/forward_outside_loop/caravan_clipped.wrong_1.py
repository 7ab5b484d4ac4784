"""A caravan chooses its road each day: sand, river or mountain. Proximal policy optimisation."""
from collections import namedtuple

import torch
import torch.nn as nn
from torch.distributions import Categorical

Batch = namedtuple("Batch", "state action log_prob ret")


class Roads:
    """Weather, water left and load; a road costs water or time according to the weather."""

    def __init__(self, n, generator):
        self.n, self.generator = n, generator
        self.state = torch.rand(n, 3, generator=generator)

    def step(self, action):
        heat, water, load = self.state.unbind(1)
        loss = torch.stack([heat + 0.2 * load, 0.5 * torch.ones(self.n), 0.9 - heat], 1)
        reward = -loss.gather(1, action[:, None]).squeeze(1) + 0.3 * water
        water = (water - 0.2 * (action == 0).float() + 0.3 * (action == 1).float()).clamp(0, 1)
        heat = torch.rand(self.n, generator=self.generator)
        self.state = torch.stack([heat, water, load], 1)
        return reward


class Guide(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.actor = nn.Linear(width, 3)
        self.critic = nn.Linear(width, 1)

    def forward(self, state):
        h = self.trunk(state)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


class PPO:
    def __init__(self, guide, epochs=4, clip=0.2, lr=3e-3, gamma=0.9):
        self.guide, self.epochs, self.clip, self.gamma = guide, epochs, clip, gamma
        self.optimizer = torch.optim.Adam(guide.parameters(), lr=lr)

    @torch.no_grad()
    def journey(self, roads, days=8):
        states, actions, log_probs, rewards = [], [], [], []
        for _ in range(days):
            dist, _ = self.guide(roads.state)
            action = dist.sample()
            states.append(roads.state)
            actions.append(action)
            log_probs.append(dist.log_prob(action))
            rewards.append(roads.step(action))
        ret, returns = torch.zeros(roads.n), []
        for reward in reversed(rewards):
            ret = reward + self.gamma * ret
            returns.insert(0, ret)
        return Batch(*(torch.cat(x) for x in (states, actions, log_probs, returns)))

    def learn(self, batch):
        dist, value = self.guide(batch.state)
        log_prob = dist.log_prob(batch.action)
        advantage = batch.ret - value.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        for _ in range(self.epochs):
            ratio = (log_prob - batch.log_prob).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            actor_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            critic_loss = (batch.ret - value).pow(2).mean()
            loss = actor_loss + 0.5 * critic_loss - 0.01 * dist.entropy().mean()
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)
            self.optimizer.step()
        return loss.item()


torch.manual_seed(21)
ppo = PPO(Guide())
roads = Roads(16, torch.Generator().manual_seed(21))
for round_ in range(10):
    batch = ppo.journey(roads)
    loss = ppo.learn(batch)
    if round_ % 3 == 0:
        print(f"round {round_}: return {batch.ret.mean():.3f} loss {loss:.4f}")
