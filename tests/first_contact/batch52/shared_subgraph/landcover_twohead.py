# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = features
"""Multi-task Sentinel-like patches: land cover per pixel and canopy height per patch.

Every task owns an object with its head, its criterion and its weight; the trainer knows nothing
about them except `Task.learn`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Callable

import torch
from torch import Tensor, nn


@dataclass
class Task:
    name: str
    head: nn.Module
    criterion: Callable[[Tensor, Tensor], Tensor]
    weight: float = 1.0
    curve: list[float] = field(default_factory=list)

    def learn(self, features: Tensor, target: Tensor) -> None:
        loss = self.weight * self.criterion(self.head(features), target)
        loss.backward()  # expect: place
        self.curve.append(loss.item())


class PatchEncoder(nn.Module):
    def __init__(self, bands: int = 6, width: int = 12) -> None:
        super().__init__()
        self.stem = nn.Conv2d(bands, width, 3, padding=1)
        self.norm = nn.GroupNorm(3, width)
        self.block = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.stem(x)))
        return x + torch.relu(self.block(x))


class HeightHead(nn.Sequential):
    def __init__(self, width: int = 12) -> None:
        super().__init__(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1))


def synthetic_patches(count: int) -> dict[str, Tensor]:
    image = torch.randn(count, 6, 12, 12)
    greenness = image[:, 3] - image[:, 2]
    return {
        "image": image,
        "landcover": torch.bucketize(greenness, torch.tensor([-0.7, 0.7])),
        "height": greenness.clamp(min=0).mean((1, 2))[:, None],
    }


class Trainer:
    def __init__(self, encoder: nn.Module, tasks: list[Task], lr: float) -> None:
        self.encoder = encoder
        self.tasks = tasks
        parameters = list(encoder.parameters())
        for task in tasks:
            parameters += task.head.parameters()
        self.optimizer = torch.optim.AdamW(parameters, lr=lr)
        self.summary: dict[str, float] = defaultdict(float)

    def step(self, batch: dict[str, Tensor]) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        features = self.encoder(batch["image"])  # expect: place
        for task in self.tasks:
            task.learn(features, batch[task.name])  # expect: place
        self.optimizer.step()

    def fit(self, data: dict[str, Tensor], epochs: int, size: int) -> None:
        count = len(data["image"])
        for epoch in range(epochs):
            for index in torch.randperm(count).split(size):
                self.step({key: value[index] for key, value in data.items()})
            line = ", ".join(f"{t.name} {t.curve[-1]:.3f}" for t in self.tasks)
            print(f"[{epoch:02d}] {line}")


if __name__ == "__main__":
    torch.manual_seed(21)
    tasks = [
        Task("landcover", nn.Conv2d(12, 3, 1), nn.CrossEntropyLoss()),
        Task("height", HeightHead(), nn.SmoothL1Loss(), weight=4.0),
    ]
    Trainer(PatchEncoder(), tasks, lr=5e-3).fit(synthetic_patches(48), epochs=5, size=16)
