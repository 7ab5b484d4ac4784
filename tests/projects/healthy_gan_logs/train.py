import time

import torch
import visdom
from torch import nn
from torchvision import datasets, transforms

from options import opt

vis = visdom.Visdom(env="gan")
loader = torch.utils.data.DataLoader(
    datasets.CIFAR10(opt.root, download=True, transform=transforms.Compose([transforms.Resize(16), transforms.ToTensor()])),
    batch_size=opt.batch_size,
)
g = nn.Sequential(nn.Linear(opt.nz, 64), nn.ReLU(), nn.Linear(64, 768), nn.Tanh())
d = nn.Sequential(nn.Linear(768, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g, opt_d = torch.optim.Adam(g.parameters(), 2e-4), torch.optim.Adam(d.parameters(), 2e-4)
bce = nn.BCEWithLogitsLoss()
for epoch in range(opt.epochs):
    for real, _ in loader:
        real = real.flatten(1)
        fake = g(torch.randn(len(real), opt.nz))
        opt_d.zero_grad()
        loss_d = bce(d(real), torch.ones(len(real), 1)) + bce(d(fake.detach()), torch.zeros(len(real), 1))
        loss_d.backward()
        opt_d.step()
        opt_g.zero_grad()
        loss_g = bce(d(fake), torch.ones(len(real), 1))
        loss_g.backward()
        opt_g.step()
        vis.line([loss_d.item()], [epoch], win="d", update="append")
    time.sleep(5)
