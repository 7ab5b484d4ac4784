import torch
from torch import nn


class Decoder(nn.Module):
    """Latent code and point to distance; the code comes in again half way."""

    def __init__(self, code_size, width=40):
        super().__init__()
        n_in = code_size + 2
        self.first = nn.Sequential(nn.Linear(n_in, width), nn.Softplus(beta=20), nn.Linear(width, width), nn.Softplus(beta=20))
        self.second = nn.Sequential(nn.Linear(width + n_in, width), nn.Softplus(beta=20), nn.Linear(width, 1))

    def forward(self, codes, points):
        codes = codes[:, None].expand(-1, points.shape[1], -1)
        given = torch.cat([codes, points], -1)
        return self.second(torch.cat([self.first(given), given], -1)).squeeze(-1)


def outline_loss(decoder, codes, points, distance, sigma):
    fit = nn.functional.l1_loss(decoder(codes, points), distance)
    return fit + codes.pow(2).sum(-1).mean() / sigma**2
