# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = scores, slopes, out
"""A Wasserstein critic with a slope penalty; the helper's default is right for plots only."""
import torch
import torch.nn as nn


class Critic(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Softplus(), nn.Linear(width, 1))

    def forward(self, points):
        return self.net(points)

    def slopes(self, points, learn=False):
        points = points.requires_grad_()
        out = self(points)
        return torch.autograd.grad(out.sum(), points, create_graph=learn)[0], out


def ring(n):
    angle = 6.2832 * torch.rand(n)
    return torch.stack([angle.cos(), angle.sin()], 1)


def main():
    torch.manual_seed(12)
    critic = Critic()
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    for step in range(6):
        real, fake = ring(40), torch.randn(40, 2)
        gap = critic(fake).mean() - critic(real).mean()
        slopes, scores = critic.slopes(0.5 * (real + fake))  # expect: place
        penalty = (slopes.norm(dim=1) - 1).pow(2).mean() + 1e-3 * scores.pow(2).mean()
        optimizer.zero_grad()
        (gap + 10 * penalty).backward()  # expect: place
        optimizer.step()
        print(step, round(gap.item(), 4))


main()
