from torch import nn


class SharedNet(nn.Module):
    def __init__(self, in_dim, width):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(in_dim, width), nn.ReLU(), nn.Linear(width, width))
        self.heads = nn.ModuleDict({"rotation": nn.Linear(width, 3), "translation": nn.Linear(width, 3)})

    def forward(self, x):
        feats = self.encoder(x).tanh()
        return {name: head(feats) for name, head in self.heads.items()}
