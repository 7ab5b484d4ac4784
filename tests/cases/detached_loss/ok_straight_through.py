# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
enc, dec = nn.Linear(8, 4), nn.Linear(4, 8)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-2)


def binarise(p):
    hard = (p > 0.5).float()
    return hard + p - p.detach()


for epoch in range(5):
    x = torch.rand(32, 8)
    recon = dec(binarise(enc(x).sigmoid()))
    loss = (recon - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
