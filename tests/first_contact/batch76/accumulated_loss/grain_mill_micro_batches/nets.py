from torch import nn


class MillNet(nn.Module):
    """Particle size of flour from vibration of the rolls."""

    def __init__(self, n_sensors, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_sensors, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
        )
        self.size = nn.Linear(width, 1)

    def forward(self, x):
        return self.size(self.body(x)).squeeze(1)
