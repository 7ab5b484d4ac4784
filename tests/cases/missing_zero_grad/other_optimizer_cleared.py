# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = self.opt_gen
import torch
from torch import nn


class GANTrainer:
    def __init__(self, nz=4):
        self.nz = nz
        self.gen = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(), nn.Linear(16, 2))
        self.dis = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.opt_gen = torch.optim.Adam(self.gen.parameters(), lr=2e-4)
        self.opt_dis = torch.optim.Adam(self.dis.parameters(), lr=2e-4)
        self.bce = nn.BCEWithLogitsLoss()

    def update(self, real):
        b = real.size(0)
        ones, zeros = torch.ones(b, 1), torch.zeros(b, 1)
        fake = self.gen(torch.randn(b, self.nz))
        self.opt_dis.zero_grad()  # expect: place
        d_loss = self.bce(self.dis(real), ones) + self.bce(self.dis(fake.detach()), zeros)
        d_loss.backward()
        self.opt_dis.step()
        self.opt_dis.zero_grad()  # expect: place
        g_loss = self.bce(self.dis(fake), ones)
        g_loss.backward()  # expect: place
        self.opt_gen.step()  # expect: place
        return d_loss.item(), g_loss.item()


torch.manual_seed(0)
t = GANTrainer()
for i in range(6):
    print(i, t.update(torch.randn(8, 2)))
