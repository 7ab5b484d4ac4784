# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = total_loss, history
"""Grid detector for round cells in synthetic microscopy tiles (anchor free, one cell per grid box)."""
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

GRID, TILE, CLASSES = 4, 32, 2


class CellTiles(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(TILE), torch.arange(TILE), indexing="ij")
        self.images = 0.05 * torch.randn(n, 1, TILE, TILE, generator=g)
        self.targets = torch.zeros(n, GRID, GRID, 5)  # obj, dx, dy, r, class
        step = TILE / GRID
        for k in range(n):
            for _ in range(3):
                i, j = torch.randint(0, GRID, (2,), generator=g).tolist()
                dy, dx, r = torch.rand(3, generator=g).tolist()
                radius, label = 1.5 + 2.5 * r, int(r > 0.5)
                cy, cx = (i + dy) * step, (j + dx) * step
                self.images[k, 0] += (((yy - cy) ** 2 + (xx - cx) ** 2) < radius ** 2) * 0.8
                self.targets[k, i, j] = torch.tensor([1.0, dx, dy, r, float(label)])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, k):
        return self.images[k], self.targets[k]


class Detector(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        blocks, c = [], 1
        for _ in range(3):
            blocks += [nn.Conv2d(c, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.SiLU()]
            c = width
        self.backbone = nn.Sequential(*blocks)
        self.head = nn.Conv2d(width, 4 + CLASSES, 1)

    def forward(self, x):
        return self.head(self.backbone(x)).permute(0, 2, 3, 1)


class DetectionLoss:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, pred, target):
        mask = target[..., 0] > 0
        losses = {
            "ObjLoss": F.binary_cross_entropy_with_logits(pred[..., 0], target[..., 0]),
            "BoxLoss": F.smooth_l1_loss(pred[..., 1:4].sigmoid()[mask], target[..., 1:4][mask]),
            "ClsLoss": F.cross_entropy(pred[..., 4:][mask], target[..., 4][mask].long()),
        }
        loss = sum(self.weights[name] * value for name, value in losses.items())
        return loss, losses


class ModelTrainer:
    def __init__(self, model, epochs=4):
        self.model = model
        self.epochs = epochs
        self.loss_fn = DetectionLoss({"ObjLoss": 1.0, "BoxLoss": 2.0, "ClsLoss": 0.5})
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
        self.history = []

    def train_one_batch(self, images, targets):
        self.optimizer.zero_grad()
        loss, loss_item = self.loss_fn(self.model(images), targets)
        loss.backward()  # expect: place
        self.optimizer.step()
        return loss_item  # expect: place

    def train_one_epoch(self, loader):
        self.model.train()
        total_loss = defaultdict(lambda: torch.tensor(0.0))  # expect: place
        seen = 0
        for images, targets in loader:
            batch = images.shape[0]
            for name, value in self.train_one_batch(images, targets).items():  # expect: place
                total_loss[name] = total_loss[name] + value * batch  # expect: place
            seen += batch
        return {name: value / seen for name, value in total_loss.items()}  # expect: place

    def solve(self, loader):
        for epoch in range(self.epochs):
            epoch_loss = self.train_one_epoch(loader)  # expect: place
            self.history.append(epoch_loss)  # expect: place
            line = "  ".join(f"{name} {float(value):.4f}" for name, value in epoch_loss.items())
            print(f"Epoch {epoch + 1}/{self.epochs}: {line}")


if __name__ == "__main__":
    torch.manual_seed(9)
    tiles = CellTiles(64, seed=9)
    trainer = ModelTrainer(Detector())
    trainer.solve(DataLoader(tiles, batch_size=8, shuffle=True, drop_last=True))
    best = min(range(len(trainer.history)), key=lambda e: float(trainer.history[e]["ObjLoss"]))
    print("best epoch by objectness:", best + 1)
