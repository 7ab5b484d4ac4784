# One fake, several critic steps on its values, one generator step through its graph.
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
C = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g, opt_c = torch.optim.RMSprop(G.parameters(), 5e-5), torch.optim.RMSprop(C.parameters(), 5e-5)
for _ in range(3):
    real, fake = torch.randn(8, 2) + 1, G(torch.randn(8, 3))
    constant = fake.detach()
    for _ in range(4):
        opt_c.zero_grad()
        (C(constant).mean() - C(real).mean()).backward()
        opt_c.step()
        for p in C.parameters():
            p.data.clamp_(-0.05, 0.05)
    opt_g.zero_grad()
    (-C(fake).mean()).backward()
    opt_g.step()
