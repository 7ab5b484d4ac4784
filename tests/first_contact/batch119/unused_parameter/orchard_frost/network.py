from torch import nn

from layers import Modulated, PreNorm


class FrostNet(nn.Module):
    def __init__(self, readings, traits, width=24, depth=2):
        super().__init__()
        self.site = nn.Sequential(nn.Linear(traits, 12), nn.Tanh())
        self.enter = nn.Linear(readings, width)
        self.blocks = nn.ModuleList(PreNorm(width, Modulated(width, 12)) for _ in range(depth))
        self.leave = nn.Linear(width, 1)

    def forward(self, reading, trait):
        context = self.site(trait)
        hidden = self.enter(reading)
        for block in self.blocks:
            hidden = block(hidden, context=context)
        return self.leave(hidden)[:, 0]
