import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(64)


class RunningMeanStd:
    def __init__(self, epsilon=1e-4):
        self.mean = torch.zeros(())
        self.var = torch.ones(())
        self.count = epsilon

    def update(self, x):
        batch_mean, batch_var, n = x.mean(), x.var(unbiased=False), x.numel()
        self.mean, self.var = self.mean.detach(), self.var.detach()
        delta = batch_mean - self.mean
        total = self.count + n
        m2 = self.var * self.count + batch_var * n + delta ** 2 * self.count * n / total
        self.mean = self.mean + delta * n / total
        self.var = m2 / total
        self.count = total


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Explorer:
    """Policy gradient in an unlit cave; novelty is what the predictor cannot yet tell."""

    def __init__(self, obs=4, actions=4):
        self.policy = mlp([obs, 24, actions])
        self.predictor = mlp([obs, 24, 8])
        self.target = mlp([obs, 24, 8])
        for p in self.target.parameters():
            p.requires_grad_(False)
        self.rms = RunningMeanStd()
        self.opt = torch.optim.Adam(
            list(self.policy.parameters()) + list(self.predictor.parameters()), lr=2e-3)

    def rollout(self, steps=20):
        place, seen, logps = torch.zeros(2), [], []
        moves = torch.tensor([[0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3]])
        for _ in range(steps):
            state = torch.cat([place, place.sin()])
            dist = Categorical(logits=self.policy(state))
            action = dist.sample()
            logps.append(dist.log_prob(action))
            place = (place + moves[action]).clamp(-2, 2)
            seen.append(torch.cat([place, place.sin()]))
        return torch.stack(seen), torch.stack(logps)

    def learn(self):
        states, logps = self.rollout()
        novelty = (self.predictor(states) - self.target(states)).pow(2).mean(dim=1)
        self.rms.update(novelty)
        scaled = novelty / (self.rms.var.sqrt() + 1e-6)
        bonus = scaled.detach()
        returns = bonus.flip(0).cumsum(0).flip(0)
        policy_loss = -(logps * (returns - returns.mean()) / (returns.std() + 1e-6)).mean()
        loss = policy_loss + 0.5 * scaled.mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item(), bonus.mean().item()


explorer = Explorer()
for episode in range(8):
    print(episode, "loss %.4f  bonus %.4f" % explorer.learn())
