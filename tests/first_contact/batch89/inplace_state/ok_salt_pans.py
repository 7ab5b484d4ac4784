"""Salt pans in a row: brine runs from one to the next, and the sun does the rest.

The levels of all days go into one table that was made beforehand; rates are fitted to the crop.
"""
import torch
from torch import nn

PANS, DAYS = 4, 30


class SaltWorks(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_gate = nn.Parameter(torch.full((PANS,), -1.5))
        self.log_sun = nn.Parameter(torch.full((PANS,), -2.5))
        self.loss_share = nn.Parameter(torch.tensor(-3.0))

    def forward(self, sunshine, intake):
        gate, sun = torch.sigmoid(self.log_gate), self.log_sun.exp()
        kept = 1 - torch.sigmoid(self.loss_share)
        years = sunshine.shape[0]
        water = torch.ones(years, PANS)
        salt = torch.full((years, PANS), 0.1)
        table = torch.zeros(years, DAYS, 2, PANS)
        for day in range(DAYS):
            strength = salt / water
            runs = gate * water
            carried = runs * strength
            into = torch.cat([intake[:, day, None], kept * runs[:, :-1]], 1)
            brought = torch.cat([0.1 * intake[:, day, None], kept * carried[:, :-1]], 1)
            dried = sun * sunshine[:, day, None]
            water = water - runs + into
            water -= dried
            water = water.clamp_min(0.05)
            salt = salt - carried
            salt += brought
            table[:, day, 0] = water
            table[:, day, 1] = salt
        table[:, :, 1] /= 0.1
        return table


def weather(years, g):
    sunshine = torch.rand(years, DAYS, generator=g)
    intake = 0.1 + 0.2 * torch.rand(years, DAYS, generator=g)
    return sunshine, intake


def main():
    g = torch.Generator().manual_seed(23)
    torch.manual_seed(23)
    truth = SaltWorks()
    with torch.no_grad():
        truth.log_gate += 0.6 * torch.randn(PANS, generator=g)
        truth.log_sun += 0.5 * torch.randn(PANS, generator=g)
        truth.loss_share += 1.0
        sunshine, intake = weather(24, g)
        seen = truth(sunshine, intake)
        seen += 0.02 * torch.randn(seen.shape, generator=g)
    works = SaltWorks()
    opt = torch.optim.Adam(works.parameters(), lr=0.05)
    running = torch.zeros(2)
    for step in range(1, 31):
        years = torch.randperm(24, generator=g)[:8]
        table = works(sunshine[years], intake[years])
        gap = (table - seen[years]).square().mean((0, 1, 3))
        opt.zero_grad()
        gap.sum().backward()
        opt.step()
        running.mul_(0.9).add_(gap.detach(), alpha=0.1)
        if step % 6 == 0:
            water, salt = running / (1 - 0.9**step)
            print(f"{step:2d} water {water:.5f} salt {salt:.5f} "
                  f"gates {[round(v, 2) for v in torch.sigmoid(works.log_gate).tolist()]}")
    with torch.no_grad():
        print("off by", (works.log_gate - truth.log_gate).abs().mean().item())


if __name__ == "__main__":
    main()
