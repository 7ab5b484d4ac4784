# A contractive autoencoder: the Jacobian's norm, one latent unit at a time.
import torch
from torch import nn


class ContractiveAE(nn.Module):
    def __init__(self, d_in=6, d_code=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d_in, 12), nn.Sigmoid(), nn.Linear(12, d_code), nn.Sigmoid())
        self.decoder = nn.Linear(d_code, d_in)

    def contraction(self, code, x):
        total = 0.0
        for k in range(code.shape[1]):
            (row,) = torch.autograd.grad(code[:, k].sum(), x, create_graph=True)
            total = total + row.pow(2).sum(1).mean()
        return total

    def loss(self, x, strength=0.1):
        x = x.requires_grad_()
        code = self.encoder(x)
        return (self.decoder(code) - x).pow(2).mean() + strength * self.contraction(code, x)


torch.manual_seed(0)
model = ContractiveAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(4):
    loss = model.loss(torch.rand(16, 6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
