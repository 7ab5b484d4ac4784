import torch
from torch import nn
from torch.distributions import Independent, Normal, kl_divergence

torch.manual_seed(25)


class LearnedPriorVAE(nn.Module):
    def __init__(self, x_dim=6, z_dim=2):
        super().__init__()
        self.encoder = nn.Linear(x_dim, 2 * z_dim)
        self.decoder = nn.Linear(z_dim, x_dim)
        self.prior_mu = nn.Parameter(torch.randn(z_dim))
        self.prior_rho = nn.Parameter(torch.zeros(z_dim))

    def prior(self):
        return Independent(Normal(self.prior_mu, nn.functional.softplus(self.prior_rho)), 1)

    def posterior(self, x):
        mu, rho = self.encoder(x).chunk(2, dim=-1)
        return Independent(Normal(mu, nn.functional.softplus(rho)), 1)


def elbo(vae, x, prior):
    q = vae.posterior(x)
    z = q.rsample()
    log_px = -(vae.decoder(z) - x).pow(2).sum(-1)
    return (log_px - kl_divergence(q, prior)).mean()


vae = LearnedPriorVAE()
optimizer = torch.optim.Adamax(vae.parameters(), lr=5e-3)

for step in range(4):
    x = torch.randn(20, 6)
    optimizer.zero_grad()
    (-elbo(vae, x, vae.prior())).backward()
    optimizer.step()
