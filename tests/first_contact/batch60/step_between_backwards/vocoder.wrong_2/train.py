



import torch

from nets import CriticBank, Generator
from objectives import critic_objective, fooling_objective, matching_objective, spectral_objective

HOP, FRAMES = 16, 18


def toy_batch(n):
    t = torch.arange(HOP * FRAMES) / 1600.0
    pitch = 60 + 90 * torch.rand(n, 1)
    wav = 0.6 * torch.sin(6.2832 * pitch * t) + 0.05 * torch.randn(n, t.numel())
    frames = wav.view(n, FRAMES, HOP)
    bank = torch.cos(torch.outer(torch.arange(20.0), torch.arange(HOP)) * 3.1416 / HOP)
    return (frames @ bank.T).transpose(1, 2), wav.unsqueeze(1)


class Session:
    def __init__(self, lr=2e-3):
        self.gen, self.critics = Generator(hop=HOP), CriticBank()
        self.opt_g = torch.optim.AdamW(self.gen.parameters(), lr, betas=(0.8, 0.99))
        self.opt_d = torch.optim.AdamW(self.critics.parameters(), lr, betas=(0.8, 0.99))
        self.window = torch.hann_window(64)

    def step(self, mel, wav):
        fake = self.gen(mel)
        on_real, on_fake = self.critics(wav), self.critics(fake.detach())

        # critics
        loss_d = critic_objective(on_real, on_fake)
        self.opt_d.zero_grad()
        loss_d.backward()
        self.opt_d.step()

        # vocoder
        on_fake = self.critics(fake.detach())
        loss_g = fooling_objective(on_fake) + matching_objective(on_real, on_fake)
        loss_g = loss_g + 10.0 * spectral_objective(wav, fake, self.window)
        self.opt_g.zero_grad()
        loss_g.backward()
        self.opt_g.step()
        return {"d": loss_d.item(), "g": loss_g.item()}


if __name__ == "__main__":
    torch.manual_seed(12)
    session = Session()
    for it in range(3):
        losses = session.step(*toy_batch(4))
        print(it, " ".join(f"{k}={v:.3f}" for k, v in losses.items()))
