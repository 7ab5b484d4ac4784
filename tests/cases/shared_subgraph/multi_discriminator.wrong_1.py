# One generator against discriminators at several scales.
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(12)
generator = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 64), nn.Tanh(), nn.Unflatten(1, (1, 8, 8)))
discriminators = nn.ModuleList(
    nn.Sequential(nn.Flatten(), nn.Linear((8 // s) ** 2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)) for s in (1, 2, 4)
)
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
d_opts = [torch.optim.Adam(d.parameters(), lr=1e-3, betas=(0.5, 0.9)) for d in discriminators]


def at_scale(image, level):
    return image if level == 0 else F.avg_pool2d(image, 2**level)


for it in range(2):
    real, fake = torch.rand(4, 1, 8, 8), generator(torch.randn(4, 6))
    for level, (d, opt) in enumerate(zip(discriminators, d_opts)):
        hinge = torch.relu(1 - d(at_scale(real, level))) + torch.relu(1 + d(at_scale(fake.detach(), level)))
        opt.zero_grad()
        hinge.mean().backward()
        opt.step()
    g_opt.zero_grad()
    for level, d in enumerate(discriminators):
        g_loss = -d(at_scale(fake if level == 0 else fake.detach(), level)).mean()
        g_loss.backward()
    g_opt.step()
