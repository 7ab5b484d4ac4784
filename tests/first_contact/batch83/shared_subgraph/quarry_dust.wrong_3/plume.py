from torch import nn


class Plume(nn.Module):
    """One reading of the wind mast, three things to tell of the dust."""

    def __init__(self, width=24):
        super().__init__()
        self.mast = nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh())
        self.tells = nn.ModuleDict({
            "fine": nn.Linear(width, 1), "coarse": nn.Linear(width, 1), "fall": nn.Linear(width, 1)
        })

    def objectives(self, wind, dust):
        seen = self.mast(wind)  # expect: place
        for name, tell in self.tells.items():
            yield name, (tell(seen).squeeze(-1) - dust[name]).abs().mean()  # expect: place
