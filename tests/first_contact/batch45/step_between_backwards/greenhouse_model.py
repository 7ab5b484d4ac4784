# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
"""Model-based control: learn how a greenhouse reacts, and a grower that plans through it."""
import torch
from torch import nn

torch.manual_seed(21)

CLIMATE, KNOBS = 3, 2
TRUE_A = torch.tensor([[0.9, 0.05, 0.0], [0.0, 0.8, 0.1], [0.02, 0.0, 0.95]])
TRUE_B = torch.tensor([[0.4, 0.0], [0.1, 0.3], [0.0, 0.2]])
WANTED = torch.tensor([0.5, 0.2, 0.8])


def real_greenhouse(climate, knobs):
    return climate @ TRUE_A.t() + knobs @ TRUE_B.t() + 0.01 * torch.randn_like(climate)


class Reaction(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(CLIMATE + KNOBS, 32), nn.SiLU(), nn.Linear(32, CLIMATE))

    def forward(self, climate, knobs):
        return climate + self.net(torch.cat([climate, knobs], dim=-1))


class Grower(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(CLIMATE, 32), nn.SiLU(), nn.Linear(32, KNOBS), nn.Tanh())

    def forward(self, climate):
        return self.net(climate)


class Season:
    def __init__(self, days):
        self.reaction, self.grower = Reaction(), Grower()
        self.reaction_opt = torch.optim.Adam(self.reaction.parameters(), lr=1e-2)
        self.grower_opt = torch.optim.Adam(self.grower.parameters(), lr=3e-3)
        self.days = days

    def imagine(self, climate, horizon=3):
        cost = 0.0
        for _ in range(horizon):
            climate = self.reaction(climate, self.grower(climate))
            cost = cost + ((climate - WANTED) ** 2).mean()
        return cost / horizon

    def day(self, climate):
        knobs = 2 * torch.rand(len(climate), KNOBS) - 1
        seen = real_greenhouse(climate, knobs)

        surprise = nn.functional.mse_loss(self.reaction(climate, knobs), seen)
        cost = self.imagine(climate)

        self.reaction_opt.zero_grad()
        surprise.backward()
        self.reaction_opt.step()  # expect: place

        self.grower_opt.zero_grad()
        cost.backward()  # expect: place
        self.grower_opt.step()
        return surprise.item(), cost.item()

    def run(self):
        for day in range(self.days):
            climate = torch.randn(48, CLIMATE)
            surprise, cost = self.day(climate)
            if day % 5 == 0:
                print(f"day {day:2d}  surprise {surprise:.4f}  imagined cost {cost:.4f}")


if __name__ == "__main__":
    Season(days=20).run()
