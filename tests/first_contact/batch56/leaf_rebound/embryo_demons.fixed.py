"""Register consecutive light-sheet slices of an embryo: dense displacement, three levels,
plain gradient descent on the similarity and Gaussian smoothing of the field after each step."""
import math

import torch
import torch.nn.functional as F


def identity_grid(size):
    lin = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(lin, lin, indexing="ij")
    return torch.stack([xx, yy], dim=-1).unsqueeze(0)


def blob_image(size, shift=0.0, squeeze=1.0):
    g = identity_grid(size)[0]
    x, y = g[..., 0] - shift, g[..., 1] * squeeze
    body = torch.exp(-4 * (x ** 2 + 1.5 * y ** 2))
    somites = 0.4 * torch.cos(9 * x) * torch.exp(-6 * (y - 0.1) ** 2)
    return (body + somites * body)[None, None]


def gaussian_kernel(sigma, radius=3):
    t = torch.arange(-radius, radius + 1).float()
    k = torch.exp(-t ** 2 / (2 * sigma ** 2))
    return k / k.sum()


def smooth(field, sigma):
    """Separable smoothing of a (1, H, W, 2) field."""
    k = gaussian_kernel(sigma)
    f = field.permute(3, 0, 1, 2)
    f = F.conv2d(F.pad(f, (3, 3, 0, 0), mode="replicate"), k.view(1, 1, 1, -1))
    f = F.conv2d(F.pad(f, (0, 0, 3, 3), mode="replicate"), k.view(1, 1, -1, 1))
    return f.permute(1, 2, 3, 0)


def warp(image, disp):
    grid = identity_grid(image.shape[-1]) + disp
    return F.grid_sample(image, grid, align_corners=True, padding_mode="border")


def local_ncc(a, b, win=7):
    def mean(t):
        return F.avg_pool2d(t, win, stride=1, padding=win // 2)
    ma, mb = mean(a), mean(b)
    var_a, var_b = mean(a * a) - ma ** 2, mean(b * b) - mb ** 2
    cov = mean(a * b) - ma * mb
    return (cov ** 2 / (var_a * var_b + 1e-4)).mean()


class Demons:
    def __init__(self, levels=(12, 24, 48), iters=10, rate=8.0, sigma=1.0):
        self.levels, self.iters, self.rate, self.sigma = levels, iters, rate, sigma
        self.trace = []

    def energy(self, fixed, moving, disp):
        return F.mse_loss(warp(moving, disp), fixed) - 0.01 * local_ncc(warp(moving, disp), fixed)

    def solve_level(self, fixed, moving, disp):
        disp = disp.detach().requires_grad_()
        for _ in range(self.iters):
            e = self.energy(fixed, moving, disp)
            e.backward()
            disp = disp - self.rate * disp.grad
            disp = smooth(disp, self.sigma).detach().requires_grad_()
            self.trace.append(e.item())
        return disp

    def register(self, fixed, moving):
        disp = torch.zeros(1, self.levels[0], self.levels[0], 2)
        for size in self.levels:
            f = F.interpolate(fixed, size=size, mode="bilinear", align_corners=True)
            m = F.interpolate(moving, size=size, mode="bilinear", align_corners=True)
            up = F.interpolate(disp.permute(0, 3, 1, 2), size=size, mode="bilinear", align_corners=True)
            disp = self.solve_level(f, m, up.permute(0, 2, 3, 1))
            print("level %d: energy %.5f -> %.5f" % (size, self.trace[-self.iters], self.trace[-1]))
        return disp


if __name__ == "__main__":
    torch.manual_seed(0)
    fixed = blob_image(48) + 0.01 * torch.randn(1, 1, 48, 48)
    moving = blob_image(48, shift=0.15, squeeze=1.15) + 0.01 * torch.randn(1, 1, 48, 48)
    field = Demons().register(fixed, moving)
    print("mean shift %.3f of half a slice" % field[..., 0].mean().item(), math.isfinite(field.sum().item()))
