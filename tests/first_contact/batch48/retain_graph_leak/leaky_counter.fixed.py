


"""People in a museum hall, from door sensors: a bank of leaky integrators (charge
learned, leak fixed) and a linear readout, trained online while the day goes on."""
import torch
from torch import nn


class LeakyBank(nn.Module):
    def __init__(self, doors, cells):
        super().__init__()
        self.charge = nn.Linear(doors, cells, bias=False)
        self.register_buffer("leak", torch.linspace(0.5, 0.98, cells))

    def forward(self, pulses, level):
        return self.leak * level + self.charge(pulses)


class HallCounter:
    def __init__(self, doors=6, cells=16, lr=2e-3):
        self.bank = LeakyBank(doors, cells)
        self.readout = nn.Linear(cells, 1)
        self.level = torch.zeros(1, cells)
        self.opt = torch.optim.SGD(
            [*self.bank.parameters(), *self.readout.parameters()], lr=lr)

    def watch(self, pulses, present):
        """a quarter of an hour of sensor readings, then one update"""
        self.level = self.level.detach()
        cost = 0.0
        for p, n in zip(pulses, present):
            self.level = self.bank(p.unsqueeze(0), self.level)
            cost = cost + (self.readout(self.level).squeeze() - n) ** 2
        cost = cost / len(pulses)
        self.opt.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(self.bank.parameters(), 5.0)
        self.opt.step()
        return cost.item()


def museum_day(minutes, doors, generator):
    """entries through the even doors, exits through the odd ones"""
    rate = torch.sin(torch.linspace(0, 3.14, minutes)).clamp_min(0.05)
    pulses = torch.poisson(rate[:, None].expand(minutes, doors) * 0.6, generator=generator)
    sign = torch.tensor([1.0, -1.0]).repeat(doors // 2)
    present = torch.zeros(minutes)
    inside = 0.0
    for m in range(minutes):
        inside = max(0.0, 0.97 * inside + (pulses[m] * sign).sum().item())
        present[m] = inside
    return pulses, present / 10


def main():
    torch.manual_seed(64)
    gen = torch.Generator().manual_seed(65)
    counter = HallCounter()
    pulses, present = museum_day(360, 6, gen)
    for block in range(24):
        lo = 15 * block
        cost = counter.watch(pulses[lo:lo + 15], present[lo:lo + 15])
        if block % 6 == 5:
            print(f"after {lo + 15} min: cost {cost:.4f}")


if __name__ == "__main__":
    main()
