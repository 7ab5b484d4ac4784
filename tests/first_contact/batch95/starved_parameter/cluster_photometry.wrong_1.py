"""Crowded-field photometry: the light of a star cluster as a sum of round Gaussians.

The entries come from an old photographic plate, and some of them are flaws in its emulsion. We fit,
take the faintest entries to where light is left over, and fit again.
"""
import math

import torch
from torch import nn

SIZE = 32


class Sources(nn.Module):
    def __init__(self, xy, flux, sky):
        super().__init__()
        self.xy = nn.Parameter(xy)
        self.log_flux = nn.Parameter(flux.log())
        self.log_width = nn.Parameter(torch.tensor(math.log(2.0)))
        self.sky = nn.Parameter(sky)

    def stamp(self, grid):
        """One unit star for each source, (n, SIZE * SIZE)."""
        var = (2 * self.log_width).exp()
        r2 = (grid[None] - self.xy[:, None]).pow(2).sum(-1)
        return torch.exp(-0.5 * r2 / var) / (2 * math.pi * var)

    def forward(self, grid):
        return self.sky + self.log_flux.exp() @ self.stamp(grid)

    @torch.no_grad()
    def relocate(self, which, xy, flux):
        moved, log_flux = self.xy.clone(), self.log_flux.clone()
        moved[which] = xy
        log_flux[which] = flux.clamp_min(5.0).log()
        self.xy = nn.Parameter(moved).requires_grad_()
        self.log_flux = nn.Parameter(log_flux).requires_grad_()


def pixel_grid():
    axis = torch.arange(SIZE, dtype=torch.float32)
    return torch.cartesian_prod(axis, axis)


def observe(grid, n_stars):
    cells = torch.cartesian_prod(torch.arange(4), torch.arange(4))[torch.randperm(16)[:n_stars]]
    xy = 5 + 7 * cells + 4 * torch.rand(n_stars, 2) - 2
    flux = 60 + 400 * torch.rand(n_stars) ** 2
    cluster = Sources(xy, flux, torch.tensor(3.0))
    with torch.no_grad():
        cluster.log_width.fill_(math.log(1.6))
        clean = cluster(grid)
    return clean + clean.sqrt() * 0.3 * torch.randn_like(clean), xy, flux


def plate(xy, n_seen, n_flaws):
    """Stars that the plate shows, badly measured, and entries that are no stars."""
    stars = xy[:n_seen] + 0.5 * torch.randn(n_seen, 2)
    flaws = 2 + (SIZE - 4) * torch.rand(n_flaws, 2)
    return torch.cat([stars, flaws]), torch.full((n_seen + n_flaws,), 120.0)


def brightest(image, grid, n, reach=2.5):
    """The n highest pixels that are not neighbours of a higher one."""
    found, left = [], image.clone()
    for _ in range(n):
        at = left.argmax()
        found.append(at)
        left[(grid - grid[at]).norm(dim=-1) < reach] = -1e9
    found = torch.stack(found)
    return grid[found].clone(), image[found] * 2 * math.pi * 2.5


def fit(sources, opt, frame, grid, steps):
    sigma2 = frame.clamp_min(1.0) * 0.09
    for _ in range(steps):
        sources.zero_grad()
        chi2 = ((sources(grid) - frame) ** 2 / sigma2).mean()
        chi2.backward()
        opt.step()
    return chi2.item()


def catalogue_error(sources, xy, flux):
    """How far the nearest fitted star is from each true one, and how wrong its flux."""
    with torch.no_grad():
        gap, which = torch.cdist(xy, sources.xy).min(1)
        off = (sources.log_flux.exp()[which] - flux).abs() / flux
    return gap.median().item(), off.median().item()


def main():
    torch.manual_seed(47)
    grid = pixel_grid()
    frame, xy, flux = observe(grid, n_stars=13)
    sources = Sources(*plate(xy, 7, 6), frame.median())
    optimizer = torch.optim.Adam(sources.parameters(), lr=0.02)
    for sweep in range(3):
        if sweep:
            with torch.no_grad():
                residual = frame - sources(grid)
                faintest = sources.log_flux.argsort()[:2]
            sources.relocate(faintest, *brightest(residual, grid, 2))
        chi2 = fit(sources, optimizer, frame, grid, steps=75)
        gap, off = catalogue_error(sources, xy, flux)
        print(f"sweep {sweep}: {int((sources.log_flux > 3.5).sum()):2d} bright  chi2 {chi2:8.3f}  gap {gap:.2f} px  flux {100 * off:.1f} %")
    print(f"seeing {sources.log_width.exp().item():.2f} px, sky {sources.sky.item():.2f}")


if __name__ == "__main__":
    main()
