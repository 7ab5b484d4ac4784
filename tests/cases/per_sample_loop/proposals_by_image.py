# expect: pattern = per-sample-loop
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = boxes, outputs, preds, predictions
# Detection: one forward, then matching and a backward image by image.
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, queries=4):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.head = nn.Linear(16, queries * 4)

    def forward(self, images):
        return self.head(self.backbone(images).flatten(1)).sigmoid().view(len(images), -1, 4)


def match(boxes, truth):
    return torch.cdist(boxes.detach(), truth, p=1).argmin(dim=0)


def train_step(model, optimizer, images, truths):
    boxes = model(images)  # expect: place
    optimizer.zero_grad()
    total = 0.0
    for b in range(len(images)):
        index = match(boxes[b], truths[b])
        loss = (boxes[b][index] - truths[b]).abs().sum()  # expect: place
        loss.backward()  # expect: place
        total += loss.item()
    optimizer.step()
    return total / len(images)


torch.manual_seed(0)
model = Detector()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    truths = [torch.rand(n, 4) for n in (2, 1, 3)]
    print(step, train_step(model, optimizer, torch.randn(3, 1, 9, 9), truths))
