# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


# paste: begin
class Pix2Pix:
    def __init__(self, netG, netD, lr=0.01):
        self.netG = netG
        self.netD = netD
        self.optimizer_G = torch.optim.SGD(self.netG.parameters(), lr=lr)
        self.optimizer_D = torch.optim.SGD(self.netD.parameters(), lr=lr)
        self.criterion = torch.nn.MSELoss()

    def optimize_parameters(self, real_A, real_B):
        fake_B = self.netG(real_A)
        pred_fake = self.netD(fake_B)  # expect: place
        pred_real = self.netD(real_B)
        loss_D = self.criterion(pred_fake, torch.zeros_like(pred_fake)) + self.criterion(
            pred_real, torch.ones_like(pred_real)
        )
        loss_G = self.criterion(pred_fake, torch.ones_like(pred_fake))
        self.optimizer_D.zero_grad()
        loss_D.backward(retain_graph=True)
        self.optimizer_D.step()  # expect: place
        self.optimizer_G.zero_grad()
        loss_G.backward()  # expect: place
        self.optimizer_G.step()


# paste: end
m = Pix2Pix(nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)))
m.optimize_parameters(torch.randn(4, 8), torch.randn(4, 8))
