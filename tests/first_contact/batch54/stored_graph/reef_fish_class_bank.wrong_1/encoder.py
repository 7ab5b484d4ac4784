"""Small convolutional encoder for reef camera crops."""
import torch.nn as nn
import torch.nn.functional as F


class CropEncoder(nn.Module):
    def __init__(self, width=12, dim=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Conv2d(width, width * 2, 3, stride=2, padding=1),
            nn.GELU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
        )
        self.project = nn.Linear(width * 8, dim)

    def forward(self, crops):
        return F.normalize(self.project(self.body(crops)), dim=1)


class SpeciesHead(nn.Module):
    def __init__(self, dim, species):
        super().__init__()
        self.out = nn.Linear(dim, species)

    def forward(self, emb):
        return self.out(emb * 8.0)
