# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = z, q
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(4)


class VAE(nn.Module):
    def __init__(self, n_in=8, n_z=2):
        super().__init__()
        self.loc, self.log_scale = nn.Linear(n_in, n_z), nn.Linear(n_in, n_z)
        self.decoder = nn.Sequential(nn.Linear(n_z, 16), nn.Tanh(), nn.Linear(16, n_in))

    def forward(self, x):
        q = Normal(self.loc(x), self.log_scale(x).clamp(-4, 2).exp())
        z = q.sample()  # expect: place
        return self.decoder(z), q


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    x = torch.randn(40, 2) @ torch.ones(2, 8)
    recon, q = model(x)  # expect: place
    loss = nn.functional.mse_loss(recon, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        kl = kl_divergence(q, Normal(0.0, 1.0)).sum(1).mean()
    print(epoch, loss.item(), kl.item())
