# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = features
"""Script, century and region of a parchment leaf from one small CNN."""
import torch
from torch import nn
import torch.nn.functional as F

TASKS = {"script": 4, "century": 6, "region": 3}
WEIGHTS = {"script": 1.0, "century": 0.5, "region": 0.8}


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 12, 3, padding=1)
        self.fc = nn.Linear(12 * 3 * 3, 32)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.relu(self.fc(x.flatten(1)))


def fake_leaves(n):
    labels = {task: torch.randint(k, (n,)) for task, k in TASKS.items()}
    images = 0.3 * torch.randn(n, 1, 12, 12)
    for i in range(n):
        images[i, 0, labels["script"][i] * 2] += 1.0
        images[i, 0, :, labels["century"][i] * 2] += 1.0
        images[i, 0, -3:, -3:] += float(labels["region"][i])
    return images, labels


def evaluate(backbone, heads, images, labels):
    backbone.eval()
    with torch.no_grad():
        f = backbone(images)
        scores = {t: (heads[t](f).argmax(1) == labels[t]).float().mean().item() for t in TASKS}
    backbone.train()
    return scores


def main():
    torch.manual_seed(14)
    images, labels = fake_leaves(96)
    backbone = Backbone()
    heads = nn.ModuleDict({t: nn.Linear(32, k) for t, k in TASKS.items()})
    optimizer = torch.optim.Adam([*backbone.parameters(), *heads.parameters()], lr=2e-3)

    for epoch in range(3):
        perm = torch.randperm(len(images))
        for idx in perm.split(24):
            optimizer.zero_grad()
            features = backbone(images[idx])  # expect: place
            log = {}
            for task, head in heads.items():
                loss = WEIGHTS[task] * F.cross_entropy(head(features), labels[task][idx])  # expect: place
                loss.backward()  # expect: place
                log[task] = round(loss.item(), 3)
            optimizer.step()
        print(epoch, log, evaluate(backbone, heads, images, labels))


if __name__ == "__main__":
    main()
