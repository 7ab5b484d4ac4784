import numpy as np
import torch
import torch.nn as nn


def edges_and_masks(n, size=8, seed=0):
    rng = np.random.RandomState(seed)
    masks = np.zeros((n, 1, size, size), dtype=np.float32)
    for m in masks:
        y, x = rng.randint(0, size - 4, 2)
        m[0, y : y + rng.randint(3, 5), x : x + rng.randint(3, 5)] = 1.0
    edges = np.abs(np.diff(masks, axis=2, prepend=0)) + np.abs(np.diff(masks, axis=3, prepend=0))
    return torch.from_numpy(edges.clip(0, 1).astype(np.float32)), torch.from_numpy(masks)


def cal_gradient_penalty(netD, real_data, fake_data, lambda_gp=10.0):
    eps = torch.rand(real_data.size(0), 1, 1, 1)
    interpolates = eps * real_data + (1 - eps) * fake_data
    interpolates.requires_grad_(True)
    scores = netD(interpolates)
    gradients = torch.autograd.grad(
        outputs=scores,
        inputs=interpolates,
        grad_outputs=torch.ones_like(scores),
        create_graph=True,
        retain_graph=True,
    )[0]
    norms = gradients.flatten(1).norm(2, dim=1)
    return lambda_gp * ((norms - 1) ** 2).mean()


class Pix2PixModel:
    def __init__(self, lambda_L1=10.0, n_critic=3):
        self.netG = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(12, 12, 3, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(12, 1, 3, padding=1), nn.Sigmoid(),
        )
        self.netD = nn.Sequential(
            nn.Conv2d(2, 12, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(12, 1, 4),
        )
        self.criterionL1 = nn.L1Loss()
        self.lambda_L1, self.n_critic = lambda_L1, n_critic
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=2e-3, betas=(0.5, 0.9))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=2e-3, betas=(0.5, 0.9))

    def set_input(self, a, b):
        self.real_A, self.real_B = a, b

    def forward(self):
        self.fake_B = self.netG(self.real_A)

    def backward_D(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_D_fake = self.netD(fake_AB.detach()).mean()
        real_AB = torch.cat((self.real_A, self.real_B), 1)
        self.loss_D_real = -self.netD(real_AB).mean()
        self.gradient_penalty = cal_gradient_penalty(self.netD, real_AB, fake_AB.detach())
        self.loss_D = self.loss_D_fake + self.loss_D_real + self.gradient_penalty
        self.loss_D.backward()

    def backward_G(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_G_GAN = -self.netD(fake_AB).mean()
        self.loss_G_L1 = self.criterionL1(self.fake_B, self.real_B) * self.lambda_L1
        self.loss_G = self.loss_G_GAN + self.loss_G_L1
        self.loss_G.backward()

    def optimize_parameters(self):
        self.forward()
        for _ in range(self.n_critic):
            self.optimizer_D.zero_grad()
            self.backward_D()
            self.optimizer_D.step()
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()


if __name__ == "__main__":
    torch.manual_seed(21)
    model = Pix2PixModel()
    A, B = edges_and_masks(64)
    for it in range(12):
        idx = torch.randint(0, len(A), (16,))
        model.set_input(A[idx], B[idx])
        model.optimize_parameters()
        if it % 4 == 0:
            print(it, float(model.loss_D), float(model.loss_G_L1))
