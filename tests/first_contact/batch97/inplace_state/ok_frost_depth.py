"""How deep does the frost go? Soil conductivity from thermometer strings, explicit heat equation.

Freezing costs latent heat, smeared over half a degree. The column is stepped out of place; only
the flux divergence is assembled in a scratch tensor, and the record is filled twice a day.
"""
import torch
from torch import nn

LAYERS, DZ, HOUR = 16, 0.2, 3600.0
SUBSTEPS = 4
STRINGS = [1, 3, 6, 10]


class Soil(nn.Module):
    def __init__(self, horizons):
        super().__init__()
        self.register_buffer("horizon", horizons)
        kinds = int(horizons.max()) + 1
        self.log_conductivity = nn.Parameter(torch.zeros(kinds))
        self.raw_water = nn.Parameter(torch.full((kinds,), -1.0))

    def conductivity(self):
        return self.log_conductivity.exp()[self.horizon]

    def heat_capacity(self, temperature):
        """J per m^3 and K, with the latent heat about zero degrees."""
        water = 0.5 * torch.sigmoid(self.raw_water)[self.horizon]
        freezing = torch.exp(-((temperature / 0.5) ** 2)) / (0.5 * torch.pi**0.5)
        return 2.0e6 + 3.3e8 * water * freezing

    def step(self, column, air):
        k = self.conductivity()
        between = 2 * k[1:] * k[:-1] / (k[1:] + k[:-1])
        flux = between * (column[..., 1:] - column[..., :-1]) / DZ
        gain = torch.zeros_like(column)
        gain[..., :-1] += flux
        gain[..., 1:] -= flux
        gain[..., 0] += k[0] * (air - column[..., 0]) / (0.5 * DZ)
        return column + 12 * HOUR / SUBSTEPS * gain / DZ / self.heat_capacity(column)

    def forward(self, column, airs):
        record = column.new_zeros(len(airs), *column.shape)
        for tick, air in enumerate(airs):
            for _ in range(SUBSTEPS):
                column = self.step(column, air)
            record[tick] = column
        return record


def weather(half_days):
    t = torch.arange(half_days) / 2
    wave = -7 + 5 * torch.cos(2 * torch.pi * t / 40)
    return wave + 2 * torch.cos(2 * torch.pi * t) + 1.5 * torch.randn(half_days)


def first_column():
    return torch.linspace(2.0, 6.0, LAYERS)


def observe(airs, horizons):
    truth = Soil(horizons)
    with torch.no_grad():
        truth.log_conductivity.copy_(torch.tensor([-0.7, 0.2, 0.6]))
        truth.raw_water.copy_(torch.tensor([0.5, -0.6, -1.6]))
        record = truth(first_column(), airs)
    strings = record[:, STRINGS]
    strings += 0.1 * torch.randn_like(strings)
    return strings, frost_depth(record)


def frost_depth(record):
    return (record < 0).sum(-1) * DZ


def fit(soil, airs, strings, span=15, epochs=8):
    """Windows of a week or so; each begins with the column in which the last one ended."""
    optimizer = torch.optim.Adam(soil.parameters(), lr=0.03)
    for epoch in range(epochs):
        column, squares = first_column(), 0.0
        for start in range(0, len(airs), span):
            record = soil(column, airs[start:start + span])
            error = record[:, STRINGS] - strings[start:start + span]
            loss = error.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            column = record[-1].detach()
            squares += loss.item()
        k = soil.log_conductivity.detach().exp()
        print(f"epoch {epoch} rmse {(squares / (len(airs) / span)) ** 0.5:.3f} K, conductivity "
              + " ".join(f"{v:.2f}" for v in k.tolist()))


if __name__ == "__main__":
    torch.manual_seed(57)
    horizons = torch.tensor([0] * 3 + [1] * 5 + [2] * 8)
    airs = weather(60)
    strings, deep = observe(airs, horizons)
    soil = Soil(horizons)
    fit(soil, airs, strings)
    with torch.no_grad():
        modelled = frost_depth(soil(first_column(), airs))
    print(f"deepest frost {modelled.max():.1f} m, truly {deep.max():.1f} m, "
          f"mean difference {(modelled - deep).abs().mean():.2f} m")
