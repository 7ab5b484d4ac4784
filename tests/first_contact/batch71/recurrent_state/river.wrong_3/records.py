import torch


class Archive:
    """Hourly rain and observed stages of one wet season (synthetic)."""

    def __init__(self, basin, hours, seed=17):
        g = torch.Generator().manual_seed(seed)
        n = len(basin.reaches)
        self.rain = torch.relu(torch.randn(hours, n, generator=g))
        self.level = torch.zeros(hours, n)
        stored = torch.zeros(n)
        for t in range(hours):
            new = 0.7 * stored + 0.3 * self.rain[t]
            for r in basin.reaches:
                for up in r.upstream:
                    new[r.rid] = new[r.rid] + 0.2 * stored[up.rid]
            stored = new
            self.level[t] = stored


class SkillLog:
    def __init__(self):
        self.level = []

    def add(self, value):
        self.level.append(value.detach())

    def summary(self):
        return torch.stack(self.level).mean().item()
