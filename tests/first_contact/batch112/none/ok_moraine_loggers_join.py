"""Ground temperature under a moraine: one shared net, an offset layer for each logger that joins late.

Loggers are dug in over the summer, so their layers don't exist when the training starts.
"""
import torch
from torch import nn

SCHEDULE = {0: ["ridge", "gully"], 3: ["lake"], 5: ["snout", "hut"]}


def season(name, n=120):
    g = torch.Generator().manual_seed(sum(map(ord, name)))
    weather = torch.randn(n, 6, generator=g)
    taste = torch.randn(6, generator=g)
    warmth = torch.tanh(weather[:, 0] - 0.5 * weather[:, 1]) + 0.4 * weather @ taste
    return weather, warmth + 0.1 * torch.randn(n, generator=g)


class Moraine(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(6, 24), nn.GELU(), nn.Linear(24, 8))
        self.loggers = {}  # kept out of state_dict: the shared part is what we send on

    def dig_in(self, name):
        self.loggers[name] = nn.ModuleDict({"own": nn.Linear(6, 8, bias=False), "out": nn.Linear(8, 1)})
        return list(self.loggers[name].parameters())

    def forward(self, weather, name):
        layer = self.loggers[name]
        return layer["out"](torch.tanh(self.shared(weather) + layer["own"](weather))).squeeze(1)


class Campaign:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
        self.data = {}
        self.log = []

    def join(self, name):
        self.data[name] = season(name)
        fresh = self.net.dig_in(name)
        self.opt.add_param_group({"params": fresh, "lr": 2e-2, "weight_decay": 0.0})

    def epoch(self):
        total = 0.0
        for rows in torch.randperm(120).split(30):
            self.opt.zero_grad(set_to_none=True)
            losses = [nn.functional.mse_loss(self.net(x[rows], name), y[rows])
                      for name, (x, y) in self.data.items()]
            loss = torch.stack(losses).mean()
            loss.backward()
            self.opt.step()
            total += loss.item() / 4
        return total

    @torch.no_grad()
    def errors(self):
        return {name: (self.net(x, name) - y).pow(2).mean().sqrt().item() for name, (x, y) in self.data.items()}


def main():
    torch.manual_seed(77)
    campaign = Campaign(Moraine())
    for week in range(12):
        for name in SCHEDULE.get(week, []):
            campaign.join(name)
        loss = campaign.epoch()
        campaign.log.append(loss)
        if week % 3 == 2:
            shown = "  ".join(f"{name} {e:.2f}" for name, e in campaign.errors().items())
            print(f"week {week}: loss {loss:.3f}  rmse {shown}")


if __name__ == "__main__":
    main()
