"""SimSiam on toy color patches with a kNN monitor and a copy of the best network."""
import copy
import logging
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("simsiam")


class ResidualBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(c)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)


class SimSiam(nn.Module):
    def __init__(self, c=12, dim=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, c, 3, stride=2, padding=1), ResidualBlock(c), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.projector = nn.Sequential(nn.Linear(c, dim), nn.BatchNorm1d(dim), nn.ReLU(), nn.Linear(dim, dim))
        self.predictor = nn.Sequential(nn.Linear(dim, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, dim))
        self.last_embedding = None

    def forward(self, one, two):
        z_one = self.projector(self.encoder(one))
        z_two = self.projector(self.encoder(two))
        self.last_embedding = z_one.detach()
        return self.predictor(z_one), self.predictor(z_two), z_one.detach(), z_two.detach()


class Patches:
    def __init__(self, n=192, n_classes=4):
        self.labels = torch.randint(0, n_classes, (n,))
        color = torch.rand(n_classes, 3, 1, 1)
        stripe = torch.sin(torch.arange(12.0) * torch.linspace(0.5, 2.5, n_classes)[:, None])
        self.images = color[self.labels] + 0.4 * stripe[self.labels][:, None, None, :]
        self.images = self.images + 0.2 * torch.randn(n, 3, 12, 12)

    def views(self, index):
        batch = self.images[index]
        return [self.augment(batch.clone()) for _ in range(2)]

    @staticmethod
    def augment(batch):
        batch *= 0.8 + 0.4 * torch.rand(len(batch), 1, 1, 1)
        batch += 0.1 * torch.randn_like(batch)
        row = int(torch.randint(0, 9, ()))
        batch[:, :, row:row + 3] = 0.0
        return batch


def negative_cosine(p, z):
    return -F.cosine_similarity(p, z, dim=-1).mean()


@torch.no_grad()
def knn_accuracy(model, data, k=5):
    model.eval()
    h = F.normalize(model.encoder(data.images), dim=1)
    similarity = h @ h.t()
    similarity.fill_diagonal_(-2.0)
    votes = data.labels[similarity.topk(k, dim=1).indices]
    model.train()
    return (votes.mode(dim=1).values == data.labels).float().mean().item()


def main():
    torch.manual_seed(8)
    data = Patches()
    model = SimSiam()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)
    best, best_model = 0.0, None
    spread = deque(maxlen=10)
    for epoch in range(5):
        running = 0.0
        for index in torch.randperm(len(data.labels)).split(48):
            p_one, p_two, z_one, z_two = model(*data.views(index))
            loss = 0.5 * (negative_cosine(p_one, z_two) + negative_cosine(p_two, z_one))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
            spread.append(F.normalize(model.last_embedding, dim=1).std(dim=0).mean())
        scheduler.step()
        acc = knn_accuracy(model, data)
        if acc > best:
            best, best_model = acc, copy.deepcopy(model)
        log.info("epoch %d loss %.3f spread %.3f knn %.3f", epoch, running / 4, torch.stack(list(spread)).mean(), acc)
    log.info("best knn %.3f", knn_accuracy(best_model, data))


if __name__ == "__main__":
    main()
