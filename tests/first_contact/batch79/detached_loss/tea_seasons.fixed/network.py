from torch import nn


class LeafGrader(nn.Module):
    def __init__(self, features, grades, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.head = nn.Linear(width, grades)

    def forward(self, x):
        return self.head(self.body(x))
