# Decorrelate a batch's features from those of the last few batches.
from collections import deque
import torch
import torch.nn as nn

torch.manual_seed(26)
HISTORY = deque(maxlen=3)
backbone = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 6))
classifier = nn.Linear(6, 2)
optimizer = torch.optim.SGD([*backbone.parameters(), *classifier.parameters()], lr=0.02)


def decorrelation(feats):
    if not HISTORY:
        return feats.new_zeros(())
    previous = torch.cat(tuple(HISTORY))
    a = feats - feats.mean(0)
    b = previous - previous.mean(0)
    return (a.detach().t() @ b[: len(a)].detach()).pow(2).mean()


def training_step(images, labels):
    feats = backbone(images)
    loss = nn.functional.cross_entropy(classifier(feats), labels) + 20.0 * decorrelation(feats)
    HISTORY.append(feats)
    return loss


for step in range(4):
    images = torch.rand(5, 1, 6, 6)
    loss = training_step(images, (images.mean((1, 2, 3)) > 0.5).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
