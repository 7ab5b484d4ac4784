import torch


class NoiseSchedule:
    def __init__(self, levels):
        betas = torch.linspace(1e-3, 0.2, levels)
        self.kept = torch.cumprod(1 - betas, 0)

    def noised(self, clean, noise, t):
        kept = self.kept[t].view(-1, 1, 1)
        return kept.sqrt() * clean + (1 - kept).sqrt() * noise
