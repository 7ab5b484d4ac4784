"""Actor and critic for the vents of a greenhouse: the critic learns in every minute, the policy at the end of an episode."""
import torch
import torch.nn as nn
from torch.distributions import Categorical


class House:
    def reset(self):
        self.t, self.temp = 0, 24.0 + 4 * torch.rand(()).item()
        return self.state()

    def state(self):
        return torch.tensor([[self.temp / 30, self.t / 12]])

    def step(self, vent):
        sun = 1.2 if self.t < 8 else 0.3
        self.temp += sun - 0.9 * vent + 0.1 * torch.randn(()).item()
        self.t += 1
        return self.state(), -abs(self.temp - 24.0) / 4, self.t >= 12


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
        self.opt = torch.optim.Adam(self.parameters(), lr=5e-3)

    def learn(self, td_error):
        loss = td_error.pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        return loss.item()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 3))
        self.opt = torch.optim.Adam(self.parameters(), lr=5e-3)

    def dist(self, s):
        return Categorical(logits=self.net(s))

    def learn(self, terms):
        loss = -torch.cat(terms).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(12)
env, critic, policy, gamma = House(), Critic(), Policy(), 0.97
for episode in range(5):
    s, done, terms, score = env.reset(), False, [], 0.0
    while not done:
        dist = policy.dist(s)
        vent = dist.sample()
        s2, reward, done = env.step(vent.item())
        with torch.no_grad():
            target = reward + gamma * (0.0 if done else critic.net(s2))
        advantage = target - critic.net(s)
        critic.learn(advantage)
        terms.append((dist.log_prob(vent).detach() * (target - critic.net(s))).flatten())
        s, score = s2, score + reward
    actor_loss = policy.learn(terms)
    print(episode, round(score, 3), round(actor_loss, 4))
