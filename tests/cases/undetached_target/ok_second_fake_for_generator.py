# The discriminator's loss reaches into the generator, but the generator's step uses a fresh fake.
import torch
from torch import nn

torch.manual_seed(3)
G, D = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))
opt_g, opt_d = torch.optim.SGD(G.parameters(), 0.01), torch.optim.SGD(D.parameters(), 0.01)
for _ in range(3):
    opt_d.zero_grad()
    (D(G(torch.randn(5, 4))).mean() - D(torch.randn(5, 2)).mean()).backward()
    opt_d.step()
    opt_g.zero_grad()
    (-D(G(torch.randn(5, 4))).mean()).backward()
    opt_g.step()
