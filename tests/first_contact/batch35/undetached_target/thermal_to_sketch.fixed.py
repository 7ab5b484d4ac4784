"""Thermal photo -> line sketch, conditional GAN. Took the usual image-to-image model class and put wgangp in."""
import torch
import torch.nn as nn


def cal_gradient_penalty(netD, real_data, fake_data, type="mixed", constant=1.0, lambda_gp=10.0):
    if lambda_gp <= 0.0:
        return 0.0
    if type == "real":
        interpolatesv = real_data
    elif type == "fake":
        interpolatesv = fake_data
    elif type == "mixed":
        alpha = torch.rand(real_data.shape[0], 1, 1, 1)
        interpolatesv = alpha * real_data + (1 - alpha) * fake_data
    else:
        raise NotImplementedError("{} not implemented".format(type))
    interpolatesv.requires_grad_(True)
    disc_interpolates = netD(interpolatesv)
    gradients = torch.autograd.grad(outputs=disc_interpolates, inputs=interpolatesv,
                                    grad_outputs=torch.ones(disc_interpolates.size()),
                                    create_graph=True, retain_graph=True, only_inputs=True)
    gradients = gradients[0].view(real_data.size(0), -1)
    return (((gradients + 1e-16).norm(2, dim=1) - constant) ** 2).mean() * lambda_gp


def define_G(ngf=8):
    return nn.Sequential(
        nn.Conv2d(1, ngf, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(ngf, ngf * 2, 3, 1, 1), nn.InstanceNorm2d(ngf * 2), nn.ReLU(),
        nn.ConvTranspose2d(ngf * 2, 1, 4, 2, 1), nn.Tanh(),
    )


def define_D(ndf=8):
    return nn.Sequential(
        nn.Conv2d(2, ndf, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(ndf, ndf * 2, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(ndf * 2, 1, 3, 1, 1),
    )


class Pix2PixModel:
    def __init__(self, opt):
        self.opt = opt
        self.netG = define_G()
        self.netD = define_D()
        self.criterionL1 = nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt["lr"], betas=(0.5, 0.9))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt["lr"], betas=(0.5, 0.9))

    def set_requires_grad(self, net, requires_grad):
        for p in net.parameters():
            p.requires_grad = requires_grad

    def set_input(self, data):
        self.real_A, self.real_B = data["A"], data["B"]

    def forward(self):
        self.fake_B = self.netG(self.real_A)

    def backward_D(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_D_fake = self.netD(fake_AB.detach()).mean()
        real_AB = torch.cat((self.real_A, self.real_B), 1)
        self.loss_D_real = -self.netD(real_AB).mean()
        self.gradient_penalty = cal_gradient_penalty(self.netD, real_AB, fake_AB.detach(), lambda_gp=self.opt["L_GP"])
        self.loss_D = self.loss_D_fake + self.loss_D_real + self.gradient_penalty
        self.loss_D.backward()

    def backward_G(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_G_GAN = -self.netD(fake_AB).mean()
        self.loss_G_L1 = self.criterionL1(self.fake_B, self.real_B) * self.opt["lambda_L1"]
        self.loss_G = self.loss_G_GAN + self.loss_G_L1
        self.loss_G.backward()

    def optimize_parameters(self):
        self.forward()
        self.set_requires_grad(self.netD, True)
        for _ in range(self.opt["n_critic"]):
            self.optimizer_D.zero_grad()
            self.backward_D()
            self.optimizer_D.step()
        self.set_requires_grad(self.netD, False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()


def batches(n, size):
    for _ in range(n):
        a = nn.functional.avg_pool2d(torch.rand(size, 1, 18, 18), 3, stride=1) * 2 - 1
        edge = torch.zeros_like(a)
        edge[..., 1:] = (a[..., 1:] - a[..., :-1]).abs()
        yield {"A": a, "B": torch.tanh(4 * edge)}


if __name__ == "__main__":
    torch.manual_seed(31)
    model = Pix2PixModel({"lr": 2e-4, "L_GP": 10.0, "lambda_L1": 50.0, "n_critic": 3})
    for i, data in enumerate(batches(6, 6)):
        model.set_input(data)
        model.optimize_parameters()
        print(i, "D %.3f G %.3f" % (model.loss_D.item(), model.loss_G.item()))
