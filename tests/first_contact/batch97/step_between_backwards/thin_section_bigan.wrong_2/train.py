"""Bidirectional GAN on thin sections; the codes feed the mineral clustering later on."""
import itertools

import torch
import torch.nn.functional as F

from nets import LATENT, Encoder, Generator, PairJudge
from rocks import Drawer, patches


def bce(logits, truth):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, truth))


class BiGAN:
    def __init__(self, lr=1e-3, betas=(0.5, 0.999)):
        self.gen, self.enc, self.judge = Generator(), Encoder(), PairJudge()
        pair = itertools.chain(self.gen.parameters(), self.enc.parameters())
        self.opt_ge = torch.optim.Adam(pair, lr=lr, betas=betas)
        self.opt_d = torch.optim.Adam(self.judge.parameters(), lr=lr, betas=betas)

    def train_step(self, x):
        z = torch.randn(len(x), LATENT)
        code = self.enc(x)
        fake = self.gen(z)
        on_real = self.judge(x, code.detach())
        on_fake = self.judge(fake.detach(), z)

        loss_d = bce(on_real, 0.9) + bce(on_fake, 0.0)
        self.opt_d.zero_grad()
        loss_d.backward()
        self.opt_d.step()

        loss_ge = bce(self.judge(x, code.detach()), 0.0) + bce(self.judge(fake.detach(), z), 0.9)
        self.opt_ge.zero_grad()
        loss_ge.backward()
        self.opt_ge.step()
        return {"d": loss_d.item(), "ge": loss_ge.item(),
                "real": on_real.detach().sigmoid().mean().item(),
                "fake": on_fake.detach().sigmoid().mean().item()}

    @torch.no_grad()
    def round_trip(self, x):
        return F.l1_loss(self.gen(self.enc(x)), x).item()

    def snapshot(self):
        return {name: {k: v.clone() for k, v in getattr(self, name).state_dict().items()}
                for name in ("gen", "enc", "judge")}


def main():
    torch.manual_seed(83)
    drawer = Drawer(256, 32, seed=83)
    held_out = patches(64)
    gan, best, kept = BiGAN(), float("inf"), None
    for epoch in range(6):
        logs = [gan.train_step(x) for x in drawer]
        mean = {key: sum(log[key] for log in logs) / len(logs) for key in logs[0]}
        error = gan.round_trip(held_out)
        if error < best:
            best, kept = error, gan.snapshot()
        print(f"epoch {epoch} " + " ".join(f"{k} {v:.3f}" for k, v in mean.items())
              + f" round trip {error:.3f}")
    print(f"best round trip {best:.3f}, {len(kept)} nets kept")


if __name__ == "__main__":
    main()
