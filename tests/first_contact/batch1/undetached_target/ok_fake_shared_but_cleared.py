"""The fake is made once and used by both losses; the generator is cleared just before its own."""
import torch
from torch import nn

torch.manual_seed(8)
latent, batch = 3, 32

G = nn.Sequential(nn.Linear(latent, 24), nn.ReLU(), nn.Linear(24, 2))
D = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=3e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(batch, 1), torch.zeros(batch, 1)
centre = torch.tensor([2.0, -1.0])


def distance():
    with torch.no_grad():
        return (G(torch.randn(400, latent)).mean(0) - centre).norm().item()


print("distance of the means before: %.3f" % distance())
for step in range(250):
    real = centre + 0.3 * torch.randn(batch, 2)
    fake = G(torch.randn(batch, latent))

    opt_d.zero_grad()
    d_loss = bce(D(real), one) + bce(D(fake.detach()), zero)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(D(fake), one)   # through the critic as it is now
    g_loss.backward()
    opt_g.step()
print("distance of the means after:  %.3f" % distance())
