# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fake_AB, fake_B, fake
"""Label-free staining: predict the fluorescence channel of a cell from its phase contrast.

Conditional WGAN-GP in the usual "model object" layout (set_input / forward / optimize).
"""
import argparse

import torch
import torch.nn as nn


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.InstanceNorm2d(cout), nn.LeakyReLU(0.2))


class Stainer(nn.Module):
    def __init__(self, ngf):
        super(Stainer, self).__init__()
        self.body = nn.Sequential(block(1, ngf), block(ngf, ngf))
        self.head = nn.Conv2d(ngf, 1, 1)

    def forward(self, phase):
        return torch.tanh(self.head(self.body(phase)))


class Critic(nn.Module):
    def __init__(self, ndf):
        super(Critic, self).__init__()
        self.features = nn.Sequential(nn.Conv2d(2, ndf, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(ndf, ndf, 4, 2, 1), nn.Softplus())
        self.score = nn.Linear(ndf * 4 * 4, 1)

    def forward(self, pair):
        return self.score(self.features(pair).flatten(1))


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1)
    mixed = alpha * real + (1 - alpha) * fake
    mixed.requires_grad_(True)
    score = critic(mixed)
    slope = torch.autograd.grad(
        outputs=score, inputs=mixed, grad_outputs=torch.ones_like(score),
        create_graph=True, retain_graph=True,
    )[0]
    return (slope.flatten(1).norm(dim=1) - 1).pow(2).mean()


class StainModel:
    def __init__(self, opt):
        self.opt = opt
        self.netG = Stainer(opt.ngf)
        self.netD = Critic(opt.ndf)
        self.criterionL1 = nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(0.5, 0.9))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr, betas=(0.5, 0.9))

    def set_input(self, phase, stain):
        self.real_A = phase
        self.real_B = stain

    def forward(self):
        self.fake_B = self.netG(self.real_A)  # expect: place

    def backward_D(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        real_AB = torch.cat((self.real_A, self.real_B), 1)
        pred_fake = self.netD(fake_AB.detach()).mean()
        pred_real = self.netD(real_AB).mean()
        penalty = gradient_penalty(self.netD, real_AB, fake_AB)  # expect: place
        self.loss_D = pred_fake - pred_real + self.opt.lambda_gp * penalty
        self.loss_D.backward()  # expect: place

    def backward_G(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_L1 = self.criterionL1(self.fake_B, self.real_B)
        self.loss_G = -self.netD(fake_AB).mean() * self.opt.lambda_adv + self.loss_L1
        self.loss_G.backward()

    def optimize_parameters(self):
        self.forward()
        for _ in range(self.opt.n_critic):
            self.optimizer_D.zero_grad()
            self.backward_D()
            self.optimizer_D.step()
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()


def cells(n, size=16):
    """Round cells at random places; the stain lights up the nucleus only."""
    axis = torch.linspace(-1, 1, size)
    cy, cx = torch.rand(2, n, 1, 1) - 0.5
    dist = ((axis.view(1, -1, 1) - cy) ** 2 + (axis.view(1, 1, -1) - cx) ** 2).sqrt()
    phase = torch.cos(6 * dist) * torch.exp(-2 * dist) + 0.05 * torch.randn(n, size, size)
    stain = 2 * torch.exp(-(dist / 0.3) ** 2) - 1
    return phase.unsqueeze(1), stain.unsqueeze(1)


def main():
    parser = argparse.ArgumentParser()
    for name, kind, value in [("ngf", int, 8), ("ndf", int, 8), ("lr", float, 2e-3), ("lambda_gp", float, 10.0),
                              ("lambda_adv", float, 0.01), ("n_critic", int, 2), ("iters", int, 15)]:
        parser.add_argument("--" + name, type=kind, default=value)
    opt = parser.parse_args([])
    torch.manual_seed(0)
    model = StainModel(opt)
    for it in range(opt.iters):
        model.set_input(*cells(8))
        model.optimize_parameters()
        if it % 5 == 4:
            print("it %d  D %.3f  L1 %.3f" % (it + 1, model.loss_D.item(), model.loss_L1.item()))


if __name__ == "__main__":
    main()
