import torch
from torch import nn


class GradCam:
    def __init__(self, net):
        self.net = net
        self.maps = None

    def __call__(self, image):
        self.maps = self.net[:2](image)
        self.maps.retain_grad()
        score = self.net[2:](self.maps)[:, 0].sum()
        score.backward()
        weights = self.maps.grad.mean(dim=(2, 3), keepdim=True)
        return (weights * self.maps).sum(1).relu().detach()


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
cam = GradCam(net)
for _ in range(3):
    heat = cam(torch.randn(1, 1, 8, 8))
    print(heat.shape)
