# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = slots
"""Action labels for long videos: every clip looks back at a bank of earlier clip features."""
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_classes: int = 4
    width: int = 12
    bank_size: int = 3
    lr: float = 3e-3
    epochs: int = 2


class FeatureBank:
    def __init__(self, size):
        self.slots = deque(maxlen=size)  # expect: place

    def reset(self):
        self.slots.clear()

    def write(self, feat):
        self.slots.append(feat)  # expect: place

    def read(self):
        if not self.slots:
            return None
        return torch.stack(list(self.slots), dim=1)  # expect: place


class ClipEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv3d(3, 8, kernel_size=3, stride=(1, 2, 2), padding=1)
        self.conv2 = nn.Conv3d(8, width, kernel_size=3, stride=(2, 2, 2), padding=1)

    def forward(self, clip):
        x = F.relu(self.conv1(clip))
        x = F.relu(self.conv2(x))
        return x.mean(dim=(2, 3, 4))


class LookBackHead(nn.Module):
    def __init__(self, width, n_classes):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(2 * width, n_classes)

    def forward(self, feat, past):
        if past is None:
            context = torch.zeros_like(feat)
        else:
            q = self.query(feat).unsqueeze(1)
            scores = (q * self.key(past)).sum(-1) / feat.shape[-1] ** 0.5
            context = (scores.softmax(-1).unsqueeze(-1) * self.value(past)).sum(1)
        return self.out(torch.cat([feat, context], dim=-1))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.encoder = ClipEncoder(cfg.width)
        self.head = LookBackHead(cfg.width, cfg.n_classes)
        self.bank = FeatureBank(cfg.bank_size)
        weights = list(self.encoder.parameters()) + list(self.head.parameters())
        self.optim = torch.optim.AdamW(weights, lr=cfg.lr)
        self.meter = []

    def train_clip(self, clip, label):
        feat = self.encoder(clip)
        logits = self.head(feat, self.bank.read())  # expect: place
        loss = F.cross_entropy(logits, label)
        self.optim.zero_grad()
        loss.backward()  # expect: place
        self.optim.step()
        self.bank.write(feat)  # expect: place
        return loss.item()

    def train_video(self, frames, labels, clip_len=4):
        self.bank.reset()
        total = 0.0
        clips = frames.split(clip_len, dim=2)
        for clip, label in zip(clips, labels):
            total += self.train_clip(clip, label)
        return total / len(clips)

    def fit(self, videos):
        for epoch in range(self.cfg.epochs):
            losses = [self.train_video(frames, labels) for frames, labels in videos]
            self.meter.append(sum(losses) / len(losses))
            print(f"epoch {epoch}: {self.meter[-1]:.4f}")


def fake_videos(n, cfg):
    videos = []
    for _ in range(n):
        frames = torch.randn(2, 3, 16, 12, 12)
        labels = torch.randint(cfg.n_classes, (4, 2))
        videos.append((frames, labels))
    return videos


if __name__ == "__main__":
    torch.manual_seed(42)
    config = Config()
    Trainer(config).fit(fake_videos(2, config))
