# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

netD = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
netG = nn.Linear(8, 8)
optD = optim.SGD(netD.parameters(), 0.1)
optG = optim.SGD(netG.parameters(), 0.1)
score = netD(netG(torch.randn(4, 8)))
errD = score.mean()
errG = -score.pow(2).mean()
# paste: begin
errD.backward(retain_graph=True)
optD.step()  # expect: place
errG.backward()  # expect: place
optG.step()
# paste: end
