


"""Harmonise brain MRI between two hospitals.

Site A scans (T1, T2, FLAIR) are translated to the look of site B, standardised with site B's
statistics and fed to a lesion segmenter that expects site B input.  Both nets train together.
"""
from typing import NamedTuple

import torch
from torch import nn
import torch.nn.functional as F


class SiteStats(NamedTuple):
    mean: torch.Tensor
    std: torch.Tensor

    @classmethod
    def measure(cls, scans):
        flat = scans.transpose(0, 1).flatten(1)
        return cls(flat.mean(dim=1), flat.std(dim=1))


def standardise_(volume, stats):
    """Zero mean and unit variance for every modality, in place: volumes are big."""
    for channel, mu, sd in zip(volume.unbind(dim=1), stats.mean, stats.std):
        channel.sub_(mu).div_(sd)
    return volume


class Translator(nn.Module):
    def __init__(self, modalities=3, width=10):
        super().__init__()
        self.inp = nn.Conv2d(modalities, width, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, modalities, 1)

    def forward(self, scan):
        h = F.silu(self.inp(scan))
        h = h + F.silu(self.mid(h))
        return F.softplus(self.out(h))      # intensities are never negative


class Segmenter(nn.Module):
    def __init__(self, modalities=3):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(modalities, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 1, 3, padding=1)
        )

    def forward(self, scan):
        return self.net(scan)


def phantom(n, size=20):
    """Travelling heads: the same slices at both sites, with a lesion."""
    ax = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(ax, ax, indexing="ij")
    head = ((xx ** 2 + yy ** 2) < 0.8).float()
    centre = 0.8 * torch.rand(n, 2, 1, 1) - 0.4
    lesion = (((xx - centre[:, 0]) ** 2 + (yy - centre[:, 1]) ** 2) < 0.06).float()
    tissue = torch.stack([head - 0.3 * lesion, head + 0.6 * lesion, 0.8 * head + 0.9 * lesion], dim=1)
    site_a = 120 * tissue + 8 * torch.randn_like(tissue).abs()
    site_b = 4.0 * tissue.clamp_min(0).sqrt() + 0.2 * torch.randn_like(tissue).abs()
    return site_a, site_b, lesion.unsqueeze(1)


class HarmonisationTrainer:
    def __init__(self, stats_a, stats_b, seg_weight=0.5):
        self.stats_a, self.stats_b = stats_a, stats_b
        self.seg_weight = seg_weight
        self.translator = Translator()
        self.segmenter = Segmenter()
        self.optimizer = torch.optim.Adam(
            list(self.translator.parameters()) + list(self.segmenter.parameters()), lr=5e-3
        )

    def train_step(self, scan_a, scan_b, lesion):
        scan_a = standardise_(scan_a, self.stats_a)
        scan_b = standardise_(scan_b, self.stats_b)
        fake = standardise_(self.translator(scan_a).detach(), self.stats_b)
        paired = F.l1_loss(fake, scan_b)
        seg = F.binary_cross_entropy_with_logits(self.segmenter(fake), lesion)
        loss = paired + self.seg_weight * seg
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return paired.item(), seg.item()


def main():
    torch.manual_seed(8)
    site_a, site_b, lesion = phantom(40)
    trainer = HarmonisationTrainer(SiteStats.measure(site_a), SiteStats.measure(site_b))
    for epoch in range(5):
        for rows in torch.randperm(40).split(8):
            paired, seg = trainer.train_step(site_a[rows], site_b[rows], lesion[rows])
        print(f"epoch {epoch}: paired {paired:.3f}  lesions {seg:.3f}")


if __name__ == "__main__":
    main()
