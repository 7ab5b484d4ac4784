# expect: pattern = shared-subgraph
# expect: also = undetached-target, step-between-backwards
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fake
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

netD = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
netG = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
optimizerD = optim.SGD(netD.parameters(), 0.1)
optimizerG = optim.SGD(netG.parameters(), 0.1)
criterion = nn.BCELoss()
noise = torch.randn(4, 8)
real_cpu = torch.randn(4, 8)
real_label = torch.ones(4, 1)
fake_label = torch.zeros(4, 1)
# paste: begin
netD.zero_grad()
errD_real = criterion(netD(real_cpu), real_label)
errD_real.backward()
fake = netG(noise)  # expect: place
errD_fake = criterion(netD(fake), fake_label)
errD_fake.backward()  # expect: place
optimizerD.step()

netG.zero_grad()
errG = criterion(netD(fake), real_label)
errG.backward()  # expect: place
optimizerG.step()
# paste: end
