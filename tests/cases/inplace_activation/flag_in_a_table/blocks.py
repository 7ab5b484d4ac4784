import torch
from torch import nn

ACTS = {"relu": nn.ReLU, "elu": nn.ELU, "silu": nn.SiLU}


def make_act(cfg):
    return ACTS[cfg["act"]](**cfg.get("act_args", {}))


class SEBlock(nn.Module):
    def __init__(self, c, cfg):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(c, c // 2), make_act(cfg), nn.Linear(c // 2, c), nn.Sigmoid())

    def forward(self, x):
        return x * self.fc(x.mean((2, 3)))[:, :, None, None]


class Residual(nn.Module):
    def __init__(self, c, cfg):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(c)
        self.act = make_act(cfg)
        self.se = SEBlock(c, cfg)

    def forward(self, x):
        y = torch.tanh(self.norm(self.conv(x)))  # expect: place
        return self.act(y) + self.se(x)  # expect: place
