import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SPECIES = ["empty", "roe deer", "badger", "fox", "wild boar"]


@dataclass
class Config:
    cameras: int = 6
    rounds: int = 3
    shots: int = 10
    momentum: float = 0.9
    lr: float = 1e-2
    seed: int = 5


class CameraStream:
    """Every camera looks at its own fixed scenery; animals are added on top of it."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.scenery = torch.rand(cfg.cameras, 3, 16, 16)
        self.patch = torch.randn(len(SPECIES), 3, 6, 6)
        self.patch[0] = 0

    def visit(self, camera):
        labels = torch.randint(0, len(SPECIES), (self.cfg.shots,))
        labels[:3] = 0
        shots = self.scenery[camera].repeat(self.cfg.shots, 1, 1, 1)
        for shot, label in zip(shots, labels):
            r, c = torch.randint(0, 10, (2,)).tolist()
            shot[:, r:r + 6, c:c + 6] += self.patch[label]
        return shots + 0.05 * torch.randn_like(shots), labels


class TrapNet(nn.Module):
    def __init__(self, cfg, width=24):
        super().__init__()
        self.momentum = cfg.momentum
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(8, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.classify = nn.Linear(4 * width, len(SPECIES))
        self.empty_scene = {}

    def forward(self, shots, camera):
        feats = self.backbone(shots)
        scene = self.empty_scene.get(camera)
        if scene is not None:
            feats = feats - scene
        return self.classify(feats)

    def remember(self, shots, camera):
        feats = self.backbone(shots).mean(dim=0).detach()
        old = self.empty_scene.get(camera)
        if old is None:
            self.empty_scene[camera] = feats
        else:
            self.empty_scene[camera] = self.momentum * old + (1 - self.momentum) * feats


def main(cfg=Config()):
    random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    stream, net = CameraStream(cfg), TrapNet(cfg)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9)
    for rnd in range(cfg.rounds):
        route = list(range(cfg.cameras))
        random.shuffle(route)
        hits = seen = 0
        for camera in route:
            shots, labels = stream.visit(camera)
            # blanks first: they tell the net what this camera sees on a quiet night
            net.remember(shots[labels == 0], camera)
            logits = net(shots, camera)
            loss = F.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += (logits.argmax(1) == labels).sum().item()
            seen += len(labels)
        print(f"round {rnd}: accuracy {hits / seen:.2f}")


if __name__ == "__main__":
    main()
