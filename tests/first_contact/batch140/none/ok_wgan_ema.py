# expect: pattern = none
# expect: raises = nothing
"""WGAN-GP on sensor traces: shared fakes, a gradient penalty and an averaged generator."""
import copy

import torch
import torch.nn as nn

NOISE_DIM = 6
TRACE_LEN = 16


class Generator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(NOISE_DIM, hidden), nn.ReLU(),
            nn.Linear(hidden, TRACE_LEN),
        )

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(TRACE_LEN, hidden), nn.LeakyReLU(0.2))
        self.head = nn.Linear(hidden, 1)
        self.last_features = None

    def forward(self, x):
        h = self.body(x)
        self.last_features = h.detach()
        return self.head(h).squeeze(-1)


class AveragedModel:
    def __init__(self, model, decay=0.9):
        self.shadow = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for ps, p in zip(self.shadow.parameters(), model.parameters()):
            ps.mul_(self.decay).add_(p, alpha=1 - self.decay)


def real_traces(n):
    t = torch.linspace(0, 3.14, TRACE_LEN)
    amp = 0.5 + torch.rand(n, 1)
    return amp * torch.sin(t + 0.3 * torch.randn(n, 1))


def gradient_penalty(critic, real, fake):
    mix = torch.rand(real.size(0), 1)
    point = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(point)
    (grad,) = torch.autograd.grad(score.sum(), point, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def critic_step(critic, opt, real, fake):
    fake = fake.detach()
    opt.zero_grad()
    wasserstein = critic(real).mean() - critic(fake).mean()
    loss = -wasserstein + 10.0 * gradient_penalty(critic, real, fake)
    loss.backward()
    opt.step()
    return wasserstein.item()


def generator_step(critic, opt, fake):
    opt.zero_grad()
    loss = -critic(fake).mean()
    loss.backward()
    opt.step()
    return loss.item()


def main():
    torch.manual_seed(9)
    gen, critic = Generator(), Critic()
    averaged = AveragedModel(gen)
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    history = []
    for step in range(20):
        real = real_traces(32)
        fake = gen(torch.randn(32, NOISE_DIM))
        w = critic_step(critic, opt_c, real, fake)
        g = generator_step(critic, opt_g, fake)
        averaged.update(gen)
        history.append((w, g))
    best = copy.deepcopy(critic)
    with torch.no_grad():
        sample = averaged.shadow(torch.randn(4, NOISE_DIM)).numpy()
    print(f"w {history[-1][0]:.4f} g {history[-1][1]:.4f} sample mean {sample.mean():.4f}")
    print(f"critic features kept: {tuple(best.last_features.shape)}")


if __name__ == "__main__":
    main()
