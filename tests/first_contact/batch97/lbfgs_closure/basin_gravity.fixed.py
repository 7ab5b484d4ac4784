"""Depth to basement under a gravity line, with robust weights for bad stations.

Vertical prisms under the line, density contrast decaying with depth. The depths are found by
L-BFGS; between the sweeps the stations are reweighted by their residuals (IRLS).
"""
import numpy as np
import torch

BIG_G = 6.674e-11 * 1e5 * 1e3  # mGal for km and kg/m^3
torch.set_default_dtype(torch.float64)


class Basin(torch.nn.Module):
    def __init__(self, edges, contrast=-450.0, decay=0.35, layers=12):
        super().__init__()
        self.register_buffer("left", edges[:-1])
        self.register_buffer("right", edges[1:])
        self.register_buffer("layer", (torch.arange(layers) + 0.5) / layers)
        self.contrast, self.decay = contrast, decay
        self.raw = torch.nn.Parameter(torch.full((len(edges) - 1,), -0.5))

    def depth(self):
        return 3.0 * torch.sigmoid(self.raw)

    def forward(self, stations):
        """Thin horizontal strips: each adds 2 G rho dz times the angle that it fills."""
        depth = self.depth()
        z = depth[:, None] * self.layer
        dz = depth[:, None] / len(self.layer)
        rho = self.contrast * torch.exp(-self.decay * z)
        angle = (torch.atan2(self.right[None, :, None] - stations[:, None, None], z)
                 - torch.atan2(self.left[None, :, None] - stations[:, None, None], z))
        return (2 * BIG_G * rho * dz * angle).sum((1, 2))


def field_line(edges, rng):
    """The truth is a graben; one station in ten was read wrongly."""
    truth = Basin(edges)
    middle = (edges[1:] + edges[:-1]) / 2
    with torch.no_grad():
        shape = 0.15 + 0.6 * torch.exp(-((middle - 9) / 4) ** 2)
        truth.raw.copy_(torch.logit(shape))
        stations = torch.linspace(0.3, 19.7, 50)
        reading = truth(stations) + 0.1 * torch.tensor(rng.normal(size=50))
    spoiled = torch.tensor(rng.choice(50, 5, replace=False))
    reading[spoiled] += torch.tensor(rng.normal(0, 6, 5))
    return truth.depth().detach(), stations, reading


def roughness(depth):
    return (depth[2:] - 2 * depth[1:-1] + depth[:-2]).square().sum()


def robust_weights(residual, scale=0.3):
    return 1 / (1 + (residual / scale) ** 2)


def invert(basin, stations, reading, sweeps=8, alpha=0.5):
    optimizer = torch.optim.LBFGS(basin.parameters(), lr=0.5, max_iter=8, history_size=10)
    weight, misfit, rough = torch.ones_like(reading), None, None
    for sweep in range(sweeps):
        def closure():
            nonlocal misfit, rough
            optimizer.zero_grad()
            predicted = basin(stations)
            misfit = (weight * (predicted - reading) ** 2).mean()
            rough = roughness(basin.depth())
            loss = misfit + alpha * rough
            loss.backward()
            return loss

        optimizer.step(closure)
        with torch.no_grad():
            residual = basin(stations) - reading
            weight = robust_weights(residual)
        print(f"sweep {sweep}: misfit {misfit.item():8.4f} rough {rough.item():.4f} "
              f"median residual {residual.abs().median():.3f} mGal, "
              f"{int((weight < 0.2).sum())} stations distrusted")
    return basin.depth().detach()


rng = np.random.default_rng(21)
edges = torch.linspace(0, 20, 21)
truth, stations, reading = field_line(edges, rng)
found = invert(Basin(edges), stations, reading)
print(f"depth error {(found - truth).abs().mean() * 1000:.0f} m, deepest {found.max():.2f} km")
