# Ultrasonic echoes from pipe flanges -> kind of flaw, depth of it, and tilt of the probe.
# written for 0.3, ported since
import math

import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable

BATCH = 24
SAMPLES = 64
KINDS = 3


def make_echoes(n):
    t = torch.linspace(0, 1, SAMPLES)
    kind = torch.randint(0, KINDS, (n,))
    depth = 0.2 + 0.6 * torch.rand(n)
    tilt = 0.5 * torch.randn(n)
    width = 0.03 + 0.03 * kind.float()
    envelope = torch.exp(-((t[None] - depth[:, None]) / width[:, None]) ** 2)
    echo = envelope * torch.cos(60 * t[None] + 2 * math.pi * tilt[:, None])
    return (echo + 0.05 * torch.randn(n, SAMPLES))[:, None], {"kind": kind, "depth": depth, "tilt": tilt}


class EchoNet(nn.Module):
    def __init__(self):
        super(EchoNet, self).__init__()
        self.trunk = nn.Sequential(
            nn.Conv1d(1, 8, 7, stride=2, padding=3),
            nn.BatchNorm1d(8),
            nn.ReLU(),
            nn.Conv1d(8, 12, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(8),
        )
        self.heads = nn.ModuleDict({
            "kind": nn.Linear(96, KINDS),
            "depth": nn.Linear(96, 1),
            "tilt": nn.Linear(96, 1),
        })

    def forward(self, x):
        feat = self.trunk(x).view(x.size(0), -1)
        return {name: head(feat).squeeze(-1) for name, head in self.heads.items()}


criteria = {"kind": nn.CrossEntropyLoss(), "depth": nn.MSELoss(), "tilt": nn.SmoothL1Loss()}
scale = {"kind": 1.0, "depth": 5.0, "tilt": 1.0}


def train(net, optimizer, epoch, batches=12):
    net.train()
    running = dict.fromkeys(criteria, 0.0)
    for _ in range(batches):
        echoes, labels = make_echoes(BATCH)
        echoes = Variable(echoes)
        optimizer.zero_grad()
        outputs = net(echoes)
        total = 0.0
        for name in criteria:
            loss = scale[name] * criteria[name](outputs[name], Variable(labels[name]))
            total = total + loss
            running[name] += loss.data.item()
        total.backward()
        optimizer.step()
    print("epoch %d  " % epoch + "  ".join("%s %.4f" % (k, v / batches) for k, v in running.items()))


def test(net):
    net.eval()
    with torch.no_grad():
        echoes, labels = make_echoes(100)
        outputs = net(echoes)
    hits = (outputs["kind"].max(1)[1] == labels["kind"]).float().mean()
    print("test: %.0f%% of kinds, depth off by %.3f" % (100 * hits, (outputs["depth"] - labels["depth"]).abs().mean()))


if __name__ == "__main__":
    torch.manual_seed(7)
    net = EchoNet()
    optimizer = optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
    for epoch in range(1, 4):
        train(net, optimizer, epoch)
        test(net)
