import itertools

import torch
from torch.nn import functional as F

from networks import Converter, PatchCritic, set_requires_grad


def lsgan(prediction, is_real):
    return F.mse_loss(prediction, torch.full_like(prediction, float(is_real)))


class AccentModel:
    def __init__(self, lambda_cycle=5.0, lr=2e-3):
        self.lambda_cycle = lambda_cycle
        self.G_ab, self.G_ba = Converter(), Converter()
        self.D_a, self.D_b = PatchCritic(), PatchCritic()
        self.optimizer_G = torch.optim.Adam(
            itertools.chain(self.G_ab.parameters(), self.G_ba.parameters()), lr=lr, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(
            itertools.chain(self.D_a.parameters(), self.D_b.parameters()), lr=lr, betas=(0.5, 0.999))

    def set_input(self, a, b):
        self.real_a, self.real_b = a, b

    def forward(self):
        self.fake_b, self.fake_a = self.G_ab(self.real_a), self.G_ba(self.real_b)
        self.cycle_a, self.cycle_b = self.G_ba(self.fake_b), self.G_ab(self.fake_a)

    def backward_G(self):
        adversarial = lsgan(self.D_a(self.fake_a), True) + lsgan(self.D_b(self.fake_b), True)
        cycle = F.l1_loss(self.cycle_a, self.real_a) + F.l1_loss(self.cycle_b, self.real_b)
        self.loss_G = adversarial + self.lambda_cycle * cycle
        self.loss_G.backward()

    def backward_D(self):
        self.loss_D = 0.0
        for critic, real, fake in ((self.D_a, self.real_a, self.fake_a), (self.D_b, self.real_b, self.fake_b)):
            self.loss_D = self.loss_D + lsgan(critic(real), True) + lsgan(critic(fake.detach()), False)
        self.loss_D = 0.5 * self.loss_D  # expect: place
        self.loss_D.backward()  # expect: place

    def optimize_parameters(self):
        self.forward()
        set_requires_grad([self.D_a, self.D_b], False)  # expect: place
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.optimizer_D.zero_grad()  # expect: place
        self.backward_D()  # expect: place
        self.optimizer_D.step()
