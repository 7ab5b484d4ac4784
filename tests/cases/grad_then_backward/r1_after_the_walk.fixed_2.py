# The penalty on the discriminator's slope is asked for after its loss was walked.
import torch
import torch.nn.functional as F
from torch import nn, optim


def d_logistic(real_pred, fake_pred):
    return F.softplus(-real_pred).mean() + F.softplus(fake_pred).mean()


def r1_penalty(real_pred, real):
    (grad,) = torch.autograd.grad(real_pred.sum(), real, create_graph=True)
    return grad.pow(2).flatten(1).sum(1).mean()


class Args:
    r1, every, batch, iters = 10.0, 2, 8, 4


def main(args=Args):
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 6))
    discriminator = nn.Sequential(nn.Linear(6, 16), nn.Softplus(), nn.Linear(16, 1))
    d_optim = optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.0, 0.99))
    g_optim = optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.99))
    for i in range(args.iters):
        real = torch.randn(args.batch, 6).requires_grad_()
        fake = generator(torch.randn(args.batch, 3))
        real_pred = discriminator(real)
        d_loss = d_logistic(real_pred, discriminator(fake.detach()))
        d_optim.zero_grad()
        d_loss.backward(retain_graph=True)
        if i % args.every == 0:
            r1 = args.r1 / 2 * args.every * r1_penalty(real_pred, real)
            r1.backward()
        d_optim.step()

        g_loss = F.softplus(-discriminator(fake)).mean()
        g_optim.zero_grad()
        g_loss.backward()
        g_optim.step()
        print(i, d_loss.item(), g_loss.item())


main()
