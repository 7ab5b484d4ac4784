import torch
from torch import nn


class LensModel(nn.Module):
    """Softened singular isothermal sphere."""

    def __init__(self, einstein, cx, cy):
        super().__init__()
        self.einstein = nn.Parameter(torch.tensor(float(einstein)))
        self.centre = nn.Parameter(torch.tensor([float(cx), float(cy)]))

    def to_source_plane(self, gx, gy):
        dx, dy = gx - self.centre[0], gy - self.centre[1]
        r = torch.sqrt(dx**2 + dy**2 + 1e-3)
        return gx - self.einstein * dx / r, gy - self.einstein * dy / r


class SersicSource(nn.Module):
    """Exponential disc (n = 1)."""

    def __init__(self, amp, radius, sx, sy):
        super().__init__()
        self.amp = nn.Parameter(torch.tensor(float(amp)))
        self.log_radius = nn.Parameter(torch.tensor(float(radius)).log())
        self.pos = nn.Parameter(torch.tensor([float(sx), float(sy)]))

    def brightness(self, bx, by):
        r = torch.sqrt((bx - self.pos[0]) ** 2 + (by - self.pos[1]) ** 2 + 1e-4)
        return self.amp * torch.exp(-1.678 * (r / self.log_radius.exp() - 1.0))
