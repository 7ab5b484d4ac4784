import torch
from torch import nn
from torch.nn import functional as F


class AntEmbedder(nn.Module):
    """Crop of an ant plus its place in the frame -> unit vector."""

    def __init__(self, dim=12):
        super().__init__()
        self.crop = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(54, dim))
        self.place = nn.Linear(4, dim)
        self.log_temperature = nn.Parameter(torch.tensor(-1.5))

    def forward(self, crops, boxes):
        return F.normalize(self.crop(crops) + self.place(boxes), dim=-1)

    def affinity(self, detections, gallery):
        return detections @ gallery.T / self.log_temperature.exp()
