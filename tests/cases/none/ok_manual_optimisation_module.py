# expect: pattern = none
# expect: raises = nothing
"""Lightning-like module with manual optimisation: a GAN on two moons."""
import torch
from torch import nn


class Module(nn.Module):
    automatic_optimization = True

    def manual_backward(self, loss, **kwargs):
        loss.backward(**kwargs)

    def optimizers(self):
        if not hasattr(self, "_optimizers"):
            self._optimizers = self.configure_optimizers()
        return self._optimizers


class MoonGAN(Module):
    automatic_optimization = False

    def __init__(self, latent=3):
        super().__init__()
        self.latent = latent
        self.generator = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(inplace=True), nn.Linear(16, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1))

    def configure_optimizers(self):
        return [torch.optim.Adam(m.parameters(), lr=1e-3) for m in (self.generator, self.discriminator)]

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        fake = self.generator(torch.randn(len(batch), self.latent))

        self.discriminator.requires_grad_(False)
        g_loss = nn.functional.softplus(-self.discriminator(fake)).mean()
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()

        self.discriminator.requires_grad_(True)
        d_loss = nn.functional.softplus(self.discriminator(fake.detach())).mean()
        d_loss += nn.functional.softplus(-self.discriminator(batch)).mean()
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        return {"g": g_loss.item(), "d": d_loss.item()}


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, module, batches):
        for epoch in range(self.max_epochs):
            logs = [module.training_step(b, i) for i, b in enumerate(batches)]
            print(epoch, {k: sum(l[k] for l in logs) / len(logs) for k in logs[0]})


torch.manual_seed(0)
angle = torch.rand(4, 32) * 3.14159
Trainer(max_epochs=2).fit(MoonGAN(), torch.stack([angle.cos(), angle.sin()], dim=-1))
