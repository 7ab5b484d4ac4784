# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = x, out, outputs, loss, exits
"""Parcel sorting on a small board: network with early exits, easy parcels leave at the first one.

Follows a backbone / head split; each exit reports its own loss.
"""
import math
from typing import List

import torch
from torch import Tensor, nn


class ConvBNAct(nn.Sequential):
    def __init__(self, c_in: int, c_out: int, stride: int = 1) -> None:
        super().__init__(
            nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False),
            nn.BatchNorm2d(c_out),
            nn.Hardswish(),
        )


class Exit(nn.Module):
    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.pool(x).flatten(1))


class EarlyExitNet(nn.Module):
    def __init__(self, classes: int = 5, widths=(8, 12, 16)) -> None:
        super().__init__()
        self.stages = nn.ModuleList()
        self.exits = nn.ModuleList()
        c = 1
        for w in widths:
            self.stages.append(ConvBNAct(c, w, stride=2))
            self.exits.append(Exit(w, classes))
            c = w

    def forward(self, x: Tensor) -> List[Tensor]:
        outputs = []
        for stage, head in zip(self.stages, self.exits):
            x = stage(x)
            outputs.append(head(x))
        return outputs

    @torch.inference_mode()
    def infer(self, x: Tensor, threshold: float) -> List[int]:
        """Exit taken by each sample."""
        taken = []
        for sample in x.split(1):
            for i, out in enumerate(self(sample)):
                if out.softmax(1).max() > threshold or i == len(self.exits) - 1:
                    taken.append(i)
                    break
        return taken


class Meter:
    def __init__(self, n: int) -> None:
        self.sum, self.count = [0.0] * n, 0

    def update(self, i: int, value: float) -> None:
        self.sum[i] += value
        self.count += i == 0

    def __str__(self) -> str:
        return " ".join(f"exit{i} {s / max(self.count, 1):.3f}" for i, s in enumerate(self.sum))


def parcels(n: int):
    label = torch.randint(0, 5, (n,))
    img = 0.5 * torch.randn(n, 1, 16, 16)
    for i, k in enumerate(label.tolist()):
        a = math.pi * k / 5
        for r in torch.linspace(-6, 6, 25).tolist():
            img[i, 0, int(8 + r * math.sin(a)), int(8 + r * math.cos(a))] += 2.0
    return img, label


def train_one_epoch(model, optimizer, criterion, weights, batches: int) -> Meter:
    model.train()
    meter = Meter(len(weights))
    for _ in range(batches):
        images, target = parcels(24)
        outputs = model(images)
        optimizer.zero_grad()
        for i, (out, weight) in enumerate(zip(outputs, weights)):  # expect: place
            loss = criterion(out, target)
            (weight * loss).backward()  # expect: place
            meter.update(i, loss.item())
        optimizer.step()
    return meter


def main() -> None:
    torch.manual_seed(8)
    model = EarlyExitNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(3):
        print(epoch, train_one_epoch(model, optimizer, criterion, weights=(0.3, 0.3, 1.0), batches=4))
    model.eval()
    print("exits taken", torch.bincount(torch.tensor(model.infer(parcels(20)[0], 0.6)), minlength=3).tolist())


if __name__ == "__main__":
    main()
