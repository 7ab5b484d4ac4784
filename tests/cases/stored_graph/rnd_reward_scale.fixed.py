# Random network distillation with a running scale for the bonus.
import torch
from torch import nn, optim


class RunningMeanStd:
    def __init__(self, decay=0.9):
        self.decay = decay
        self.mean = torch.zeros(())
        self.mean_sq = torch.ones(())

    def update(self, values):
        values = values.detach()
        self.mean = self.decay * self.mean + (1 - self.decay) * values.mean()
        self.mean_sq = self.decay * self.mean_sq + (1 - self.decay) * values.square().mean()

    @property
    def std(self):
        return (self.mean_sq - self.mean.square()).clamp(min=1e-6).sqrt()


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class RND(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.target = mlp(obs_dim, 32, 8).requires_grad_(False)
        self.predictor = mlp(obs_dim, 32, 8)
        self.rms = RunningMeanStd()

    def bonus(self, obs):
        error = (self.predictor(obs) - self.target(obs)).pow(2).mean(dim=1)
        self.rms.update(error)
        return error / self.rms.std


torch.manual_seed(11)
rnd, policy = RND(4), mlp(4, 16, 2)
opt_rnd = optim.Adam(rnd.predictor.parameters(), lr=1e-3)
opt_pi = optim.Adam(policy.parameters(), lr=1e-3)

for update in range(5):
    obs = torch.randn(32, 4)
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    bonus = rnd.bonus(obs)

    opt_pi.zero_grad()
    pi_loss = -(dist.log_prob(action) * bonus.detach()).mean()
    pi_loss.backward()
    opt_pi.step()

    opt_rnd.zero_grad()
    bonus.mean().backward()
    opt_rnd.step()
    print(f"{update} bonus={bonus.mean().item():.3f} scale={rnd.rms.std.item():.3f}")
