# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = prob_fake, g_loss
import torch
from torch import nn

torch.manual_seed(1)

BATCH, NOISE, POINTS = 16, 5, 15
GRID = torch.linspace(-1, 1, POINTS).expand(BATCH, POINTS)

generator = nn.Sequential(nn.Linear(NOISE, 32), nn.ReLU(), nn.Linear(32, POINTS))
discriminator = nn.Sequential(nn.Linear(POINTS, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)


def real_curves():
    shift = 0.1 * torch.randn(BATCH, 1)
    return torch.sin(GRID * 3.14159) + shift


for step in range(8):
    curves = real_curves()
    fake = generator(torch.randn(BATCH, NOISE))

    prob_real = discriminator(curves)
    prob_fake = discriminator(fake)  # expect: place

    d_loss = -torch.mean(torch.log(prob_real) + torch.log(1 - prob_fake))
    g_loss = torch.mean(torch.log(1 - prob_fake))  # expect: place

    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()  # expect: place

    opt_g.zero_grad()
    g_loss.backward()  # expect: place
    opt_g.step()

    if step % 4 == 0:
        print(f"{step}: d {d_loss.item():.3f} g {g_loss.item():.3f}")
