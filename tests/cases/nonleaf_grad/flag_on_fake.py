# expect: pattern = nonleaf-grad
# expect: raises = RuntimeError: you can only change requires_grad flags of leaf variables
# expect: carrier = fake
# requires_grad on a non-leaf
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(G.parameters(), 2e-4)
d_opt = torch.optim.Adam(D.parameters(), 2e-4)
bce = nn.BCEWithLogitsLoss()


def d_step(real):
    fake = G(torch.randn(real.size(0), 4))
    fake.requires_grad = False  # expect: place
    loss = bce(D(real), torch.ones(real.size(0), 1)) + bce(D(fake), torch.zeros(real.size(0), 1))
    d_opt.zero_grad()
    loss.backward()
    d_opt.step()
    return loss.item()


def g_step(n):
    loss = bce(D(G(torch.randn(n, 4))), torch.ones(n, 1))
    g_opt.zero_grad()
    loss.backward()
    g_opt.step()
    return loss.item()


for i in range(4):
    real = torch.randn(8, 2) * 0.5 + 1
    print(i, d_step(real), g_step(8))
