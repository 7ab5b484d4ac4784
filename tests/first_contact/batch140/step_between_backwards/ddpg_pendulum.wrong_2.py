"""DDPG on a toy swing-up task (states are generated, no simulator needed)."""
import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

STATE_DIM = 3
ACTION_DIM = 1
GAMMA = 0.98
TAU = 0.01


class Actor(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(STATE_DIM, hidden), nn.ReLU(),
            nn.Linear(hidden, ACTION_DIM), nn.Tanh(),
        )

    def forward(self, state):
        return 2.0 * self.net(state)


class Critic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(STATE_DIM + ACTION_DIM, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, state, action):
        x = torch.cat([state, action], dim=1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.out(x)


class ReplayBuffer:
    def __init__(self):
        self.items = []

    def push(self, *transition):
        self.items.append(transition)

    def sample(self, n):
        batch = random.sample(self.items, n)
        return [torch.stack(column) for column in zip(*batch)]


class DDPGAgent:
    def __init__(self):
        self.actor = Actor()
        self.critic = Critic()
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    @torch.no_grad()
    def act(self, state, noise=0.3):
        action = self.actor(state.unsqueeze(0)).squeeze(0)
        return (action + noise * torch.randn_like(action)).clamp(-2.0, 2.0)

    def compute_losses(self, s, a, r, s2):
        with torch.no_grad():
            target = r + GAMMA * self.critic_target(s2, self.actor_target(s2))
        critic_loss = F.mse_loss(self.critic(s, a), target)
        q_pi = self.critic(s, self.actor(s))
        actor_loss = -q_pi.mean()
        return critic_loss, actor_loss

    def soft_update(self):
        pairs = [(self.actor, self.actor_target), (self.critic, self.critic_target)]
        with torch.no_grad():
            for net, target in pairs:
                for p, pt in zip(net.parameters(), target.parameters()):
                    pt.mul_(1 - TAU).add_(TAU * p)

    def update(self, batch):
        critic_loss, actor_loss = self.compute_losses(*batch)

        self.critic_opt.zero_grad()
        self.actor_opt.zero_grad()
        critic_loss.backward()
        actor_loss.backward()
        self.critic_opt.step()
        self.actor_opt.step()

        self.soft_update()
        return critic_loss.item(), actor_loss.item()


def env_step(state, action):
    nxt = 0.95 * state + 0.1 * action + 0.05 * torch.randn(STATE_DIM)
    reward = -(nxt ** 2).sum().unsqueeze(0) - 0.01 * (action ** 2)
    return nxt, reward


def main():
    random.seed(3)
    torch.manual_seed(3)
    agent, buffer = DDPGAgent(), ReplayBuffer()
    state = torch.randn(STATE_DIM)
    for step in range(60):
        action = agent.act(state)
        nxt, reward = env_step(state, action)
        buffer.push(state, action, reward, nxt)
        state = nxt
        if step >= 40:
            c, a = agent.update(buffer.sample(16))
            if step % 5 == 0:
                print(f"step {step} critic {c:.4f} actor {a:.4f}")


if __name__ == "__main__":
    main()
