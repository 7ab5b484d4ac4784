# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class GAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Linear(8, 8)
        self.discriminator = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
        self.g = optim.SGD(self.generator.parameters(), 0.1)
        self.d = optim.SGD(self.discriminator.parameters(), 0.1)

    def optimizers(self):
        return self.g, self.d

    def manual_backward(self, loss, **kw):
        loss.backward(**kw)

    # paste: begin
    def training_step(self, batch, batch_idx):
        imgs, _ = batch
        g_opt, d_opt = self.optimizers()
        fake = self.generator(torch.randn(imgs.shape[0], 8))
        score = self.discriminator(fake)  # expect: place
        d_loss = F.softplus(score).mean() + F.softplus(-self.discriminator(imgs)).mean()
        g_loss = F.softplus(-score).mean()

        d_opt.zero_grad()
        self.manual_backward(d_loss, retain_graph=True)
        d_opt.step()  # expect: place

        g_opt.zero_grad()
        self.manual_backward(g_loss)  # expect: place
        g_opt.step()

    # paste: end


GAN().training_step((torch.randn(4, 8), 0), 0)
