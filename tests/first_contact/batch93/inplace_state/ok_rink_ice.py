"""Heat through the ice of a rink, slab by slab: which part of the heat load is the lamps, which the flooding?"""
import torch
import torch.nn as nn

LAYERS, STEPS, DT = 8, 40, 0.5


class Rink(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_diffusion = nn.Parameter(torch.tensor(-1.0))
        self.lamps = nn.Parameter(torch.tensor(0.2))
        self.flood = nn.Parameter(torch.tensor(0.5))

    def forward(self, start, brine, flooded, lit):
        """Profiles at all times, (steps, layers), from the pipes up to the surface."""
        k = self.log_diffusion.exp().clamp(max=0.45 / DT) * DT
        profiles = torch.empty(len(brine), LAYERS)
        surface_load = torch.zeros(len(brine))
        surface_load[lit] += self.lamps
        surface_load[flooded] += self.flood
        ice = start
        for t in range(len(brine)):
            padded = torch.empty(LAYERS + 2)
            padded[0] = brine[t]
            padded[1:-1] = ice
            padded[-1] = ice[-1]
            ice = ice + k * (padded[2:] - 2 * padded[1:-1] + padded[:-2])
            warmed = ice.clone()
            warmed[-1] += DT * surface_load[t]
            ice = warmed
            profiles[t] = ice
        return profiles


def evening(seed):
    g = torch.Generator().manual_seed(seed)
    brine = -9.0 + 0.8 * torch.randn(STEPS, generator=g).cumsum(0) / STEPS ** 0.5
    flooded = torch.zeros(STEPS, dtype=torch.bool)
    flooded[torch.randint(3, STEPS - 3, (3,), generator=g)] = True
    lit = torch.zeros(STEPS, dtype=torch.bool)
    lit[10:30] = True
    return brine, flooded, lit


def main():
    torch.manual_seed(87)
    start = torch.linspace(-8.5, -5.0, LAYERS)
    evenings = [evening(s) for s in range(5)]
    truth = Rink()
    with torch.no_grad():
        truth.log_diffusion.fill_(-0.6)
        truth.lamps.fill_(0.5)
        truth.flood.fill_(2.5)
        measured = [truth(start, *e)[:, [2, 5, 7]] + 0.05 * torch.randn(STEPS, 3) for e in evenings]

    rink = Rink()
    optimizer = torch.optim.Adam(rink.parameters(), lr=0.06)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.97)
    for epoch in range(12):
        misfit = 0.0
        for e, thermistors in zip(evenings[:4], measured[:4]):
            loss = (rink(start, *e)[:, [2, 5, 7]] - thermistors).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            misfit += loss.item() / 4
        schedule.step()
        if epoch % 4 == 3:
            with torch.no_grad():
                unseen = (rink(start, *evenings[4])[:, [2, 5, 7]] - measured[4]).abs().mean().item()
            print(f"epoch {epoch + 1}: misfit {misfit:.3f}, unseen evening {unseen:.3f} K, "
                  f"lamps {rink.lamps.item():.2f}, flood {rink.flood.item():.2f}, "
                  f"diffusion {rink.log_diffusion.exp().item():.2f}")


if __name__ == "__main__":
    main()
