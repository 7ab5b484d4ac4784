# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)
G = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.1), nn.Linear(16, 1))
opt_G = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_D = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(24, 1), torch.zeros(24, 1)

for i in range(6):
    real = torch.randn(24, 2) * 0.3 + 1.0
    fake = G(torch.randn(24, 3))

    opt_D.zero_grad()
    loss_D = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    loss_D.backward()
    opt_D.step()

    opt_G.zero_grad()
    loss_G = bce(D(fake), ones)
    loss_G.backward()
    opt_G.step()
print(loss_D.item(), loss_G.item())
