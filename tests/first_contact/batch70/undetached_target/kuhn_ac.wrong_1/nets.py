import torch.nn as nn


def mlp(n_in, n_out, width=24):
    return nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, n_out))


class Bettor(nn.Module):
    """Card and position in, logits over (check, bet) out."""

    def __init__(self, n_features):
        super().__init__()
        self.body = mlp(n_features, 2)

    def forward(self, infoset):
        return self.body(infoset)


class HandValue(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.body = mlp(n_features, 1)

    def forward(self, infoset):
        return self.body(infoset).squeeze(-1)
