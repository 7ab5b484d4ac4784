# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class M:
    pass


self = M()
self.vae = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
self.D = nn.Linear(8, 1)
self.optim_VAE = optim.SGD(self.vae.parameters(), 0.1)
self.optim_D = optim.SGD(self.D.parameters(), 0.1)
x = torch.randn(4, 8)
# paste: begin
recon = self.vae(x)  # expect: place
d_out = self.D(recon)
vae_loss = F.mse_loss(recon, x) + d_out.mean()
D_loss = F.softplus(-d_out).mean()

self.optim_VAE.zero_grad()
vae_loss.backward(retain_graph=True)
self.optim_VAE.step()  # expect: place

self.optim_D.zero_grad()
D_loss.backward()  # expect: place
self.optim_D.step()
# paste: end
