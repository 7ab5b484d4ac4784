"""Imagination in a learned model: an actor climbs the critic's value of imagined states."""
import torch
import torch.nn as nn


class Dynamics(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(s + a, 32), nn.ELU(), nn.Linear(32, s))

    def forward(self, s, a):
        return s + 0.1 * self.f(torch.cat([s, a], -1))


class Dreamer:
    def __init__(self, s=4, a=2, horizon=4, gamma=0.9):
        self.horizon, self.gamma = horizon, gamma
        self.model = Dynamics(s, a).requires_grad_(False)
        self.actor = nn.Sequential(nn.Linear(s, 24), nn.ELU(), nn.Linear(24, a), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(s, 24), nn.ELU(), nn.Linear(24, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    def reward(self, s):
        return -s.pow(2).sum(-1, keepdim=True)

    def dream(self, s):
        states, rewards = [s], []
        for _ in range(self.horizon):
            s = self.model(s, self.actor(s))
            states.append(s)
            rewards.append(self.reward(s))
        return states, rewards

    def returns(self, states, rewards):
        g = self.critic(states[-1])
        out = []
        for r in reversed(rewards):
            g = r + self.gamma * g
            out.append(g)
        return out[::-1]

    def actor_loss(self, targets):
        return -torch.cat(targets).mean()

    def critic_loss(self, states, targets):
        s = torch.cat(states[:-1]).detach()
        return (self.critic(s) - torch.cat(targets).detach()).pow(2).mean()

    def learn(self, start):
        states, rewards = self.dream(start)
        targets = self.returns(states, rewards)
        losses = {"critic": self.critic_loss(states, targets), "actor": self.actor_loss(targets)}

        for name, opt in (("actor", self.actor_opt), ("critic", self.critic_opt)):
            opt.zero_grad()
            losses[name].backward()
            opt.step()
        return {k: v.item() for k, v in losses.items()}


def main():
    torch.manual_seed(70)
    agent = Dreamer()
    for i in range(6):
        out = agent.learn(torch.randn(16, 4))
        print(i, {k: round(v, 4) for k, v in out.items()})


if __name__ == "__main__":
    main()
