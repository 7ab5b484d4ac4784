# Two generators, two discriminators, one method for each step.
import itertools

import torch
import torch.nn as nn


def generator(width=8):
    return nn.Sequential(nn.Linear(width, 16), nn.LeakyReLU(0.2), nn.Linear(16, width))


def discriminator(width=8):
    return nn.Sequential(nn.Linear(width, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))


class CycleModel:
    def __init__(self, opt):
        self.opt = opt
        self.netG_A, self.netG_B = generator(), generator()
        self.netD_A, self.netD_B = discriminator(), discriminator()
        self.criterionGAN, self.criterionCycle = nn.MSELoss(), nn.L1Loss()
        g = itertools.chain(self.netG_A.parameters(), self.netG_B.parameters())
        d = itertools.chain(self.netD_A.parameters(), self.netD_B.parameters())
        self.optimizer_G = torch.optim.Adam(g, lr=opt["lr"], betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(d, lr=opt["lr"], betas=(0.5, 0.999))

    def set_input(self, batch):
        self.real_A, self.real_B = batch["A"], batch["B"]

    def forward(self):
        self.fake_B = self.netG_A(self.real_A)
        self.rec_A = self.netG_B(self.fake_B)
        self.fake_A = self.netG_B(self.real_B)
        self.rec_B = self.netG_A(self.fake_A)

    def gan_loss(self, score, is_real):
        return self.criterionGAN(score, torch.full_like(score, float(is_real)))

    def backward_D_basic(self, netD, real, fake):
        loss_real = self.gan_loss(netD(real), True)
        loss_fake = self.gan_loss(netD(fake.detach()), False)
        loss = 0.5 * (loss_real + loss_fake)
        loss.backward()
        return loss

    def backward_D_A(self):
        self.loss_D_A = self.backward_D_basic(self.netD_A, self.real_B, self.fake_B)

    def backward_D_B(self):
        self.loss_D_B = self.backward_D_basic(self.netD_B, self.real_A, self.fake_A)

    def backward_G(self):
        adversarial = self.gan_loss(self.netD_A(self.fake_B), True)
        adversarial = adversarial + self.gan_loss(self.netD_B(self.fake_A), True)
        cycle = self.criterionCycle(self.rec_A, self.real_A)
        cycle = cycle + self.criterionCycle(self.rec_B, self.real_B)
        self.loss_G = adversarial + self.opt["lambda"] * cycle
        self.loss_G.backward()

    def set_requires_grad(self, nets, flag):
        for net in nets:
            for p in net.parameters():
                p.requires_grad = flag

    def optimize_parameters(self):
        self.forward()
        self.set_requires_grad([self.netD_A, self.netD_B], False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.set_requires_grad([self.netD_A, self.netD_B], True)
        self.optimizer_D.zero_grad()
        self.backward_D_A()
        self.backward_D_B()
        self.optimizer_D.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = CycleModel({"lr": 2e-4, "lambda": 10.0})
    for epoch in range(2):
        for _ in range(2):
            model.set_input({"A": torch.randn(4, 8), "B": torch.rand(4, 8)})
            model.optimize_parameters()
        print(epoch, model.loss_G.item(), model.loss_D_A.item())
