"""Adversarial autoencoder on spindle vibration envelopes (milling tool wear)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LATENT, LENGTH = 3, 24


def mlp(*sizes):
    mods = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        if i:
            mods.append(nn.LeakyReLU(0.2))
        mods.append(nn.Linear(a, b))
    return nn.Sequential(*mods)


def envelopes(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    wear = torch.rand(n, 1, generator=g)
    speed = 1 + 0.5 * torch.rand(n, 1, generator=g)
    t = torch.linspace(0, 6.28, LENGTH)
    x = torch.sin(speed * t) * (0.5 + wear) + wear ** 2 * torch.sin(5 * t)
    return x + 0.05 * torch.randn(n, LENGTH, generator=g)


class AAE:
    def __init__(self, lr_ae=2e-3, lr_adv=1e-3):
        self.encoder = mlp(LENGTH, 32, 32, LATENT)
        self.decoder = mlp(LATENT, 32, 32, LENGTH)
        self.critic = mlp(LATENT, 24, 1)
        ae = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.opt_ae = torch.optim.Adam(ae, lr=lr_ae)
        self.opt_gen = torch.optim.Adam(self.encoder.parameters(), lr=lr_adv, betas=(0.5, 0.99))
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=lr_adv, betas=(0.5, 0.99))

    @staticmethod
    def _bce(logits, real):
        target = torch.full_like(logits, 0.9 if real else 0.0)
        return F.binary_cross_entropy_with_logits(logits, target)

    def train_batch(self, x):
        # 1. reconstruction
        z = self.encoder(x)
        rec = F.mse_loss(self.decoder(z), x)
        self.opt_ae.zero_grad()
        rec.backward()
        self.opt_ae.step()

        # 2. critic: prior against posterior
        z = self.encoder(x)
        prior = torch.randn(len(x), LATENT)
        critic_loss = self._bce(self.critic(prior), True) + self._bce(self.critic(z.detach()), False)
        self.opt_critic.zero_grad()
        critic_loss.backward()
        self.opt_critic.step()

        # 3. the encoder as generator
        gen_loss = F.binary_cross_entropy_with_logits(self.critic(z), torch.ones(len(x), 1))
        self.opt_gen.zero_grad()
        gen_loss.backward()
        self.opt_gen.step()
        return {"rec": rec.item(), "critic": critic_loss.item(), "gen": gen_loss.item()}


def main():
    torch.manual_seed(31)
    data = envelopes(192)
    model = AAE()
    for epoch in range(8):
        book = {}
        for idx in torch.randperm(len(data)).split(32):
            for k, v in model.train_batch(data[idx]).items():
                book.setdefault(k, []).append(v)
        line = "  ".join(f"{k} {sum(v) / len(v):.3f}" for k, v in book.items())
        print(f"epoch {epoch}  {line}")


if __name__ == "__main__":
    main()
