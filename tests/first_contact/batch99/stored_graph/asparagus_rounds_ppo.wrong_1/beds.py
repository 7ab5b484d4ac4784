"""Five asparagus beds; one of them is cut each day."""
import torch


class Field:
    beds = 5

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.vigour = torch.tensor([0.10, 0.14, 0.18, 0.22, 0.12])

    def reset(self):
        self.day = 0
        self.spears = torch.rand(self.beds, generator=self.gen)
        return self.observe()

    def observe(self):
        season = torch.tensor([self.day / 20.0])
        return torch.cat([self.spears, self.spears ** 2, season])

    def cut(self, bed):
        crop = self.spears[bed]
        woody = (crop - 0.8).clamp(min=0.0)  # what has gone woody is worth little
        income = float(crop - 3.0 * woody)
        self.spears[bed] = 0.05
        rain = 0.6 + 0.8 * torch.rand(self.beds, generator=self.gen)
        self.spears = self.spears + self.vigour * rain
        self.day += 1
        return self.observe(), income, self.day == 20
