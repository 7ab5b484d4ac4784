"""Fine-tuning with a pretrained backbone: first the head alone, then the last block as well."""

from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torch.optim import AdamW
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class FinetuneConfig:
    num_classes: int = 3
    image_size: int = 16
    batch_size: int = 32
    pretrain_steps: int = 40
    epochs: int = 4
    unfreeze_epoch: int = 2
    head_lr: float = 1e-2
    backbone_lr: float = 3e-3
    seed: int = 17
    channels: list = field(default_factory=lambda: [8, 16, 24])


class Block(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, c_out)
        self.act = nn.GELU()

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class Backbone(nn.Module):
    def __init__(self, channels):
        super().__init__()
        widths = [1, *channels]
        self.blocks = nn.ModuleList(Block(a, b) for a, b in zip(widths, widths[1:]))
        self.out_features = channels[-1]

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.mean(dim=(2, 3))


class Classifier(nn.Module):
    def __init__(self, backbone, num_classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(
            nn.Linear(backbone.out_features, 32), nn.ReLU(), nn.Linear(32, num_classes)
        )

    def freeze_backbone(self):
        self.backbone.requires_grad_(False)

    def unfreeze_last(self):
        block = self.backbone.blocks[-1]
        block.requires_grad_(True)
        return list(block.parameters())

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        features = features.clone()
        return self.head(features)


def shapes(n, size, num_classes):
    """Bars, crosses and frames at random places."""
    labels = torch.randint(0, num_classes, (n,))
    images = 0.2 * torch.randn(n, 1, size, size)
    for image, label in zip(images, labels.tolist()):
        r, c = torch.randint(2, size - 7, (2,)).tolist()
        if label == 0:
            image[0, r:r + 6, c + 2] += 2.0
        elif label == 1:
            image[0, r:r + 6, c + 2] += 2.0
            image[0, r + 2, c:c + 6] += 2.0
        else:
            image[0, r:r + 6, [c, c + 5]] += 2.0
            image[0, [r, r + 5], c:c + 6] += 2.0
    return images, labels


def pretrain_rotation(backbone, cfg):
    """Stands in for downloaded weights: predicts by how many quarter turns an image was rotated."""
    head = nn.Linear(backbone.out_features, 4)
    optimizer = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=3e-3)
    for _ in range(cfg.pretrain_steps):
        images, _ = shapes(cfg.batch_size, cfg.image_size, cfg.num_classes)
        turns = torch.randint(0, 4, (len(images),))
        rotated = torch.stack([torch.rot90(i, k, (1, 2)) for i, k in zip(images, turns.tolist())])
        loss = nn.functional.cross_entropy(head(backbone(rotated)), turns)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class FinetuneTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        backbone = Backbone(cfg.channels)
        pretrain_rotation(backbone, cfg)
        self.model = Classifier(backbone, cfg.num_classes)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.optimizer = AdamW(self.model.head.parameters(), lr=cfg.head_lr)
        self.train_loader = DataLoader(
            TensorDataset(*shapes(192, cfg.image_size, cfg.num_classes)), cfg.batch_size, shuffle=True
        )
        self.val_loader = DataLoader(
            TensorDataset(*shapes(96, cfg.image_size, cfg.num_classes)), cfg.batch_size
        )

    def on_epoch_start(self, epoch):
        if epoch == self.cfg.unfreeze_epoch:
            params = self.model.unfreeze_last()
            self.optimizer.add_param_group({"params": params, "lr": self.cfg.backbone_lr})
            trainable = sum(p.numel() for p in self.model.parameters() if p.requires_grad)
            print(f"epoch {epoch}: {trainable} trainable parameters")

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.on_epoch_start(epoch)
            self.model.train()
            running = 0.0
            for images, labels in self.train_loader:
                loss = self.criterion(self.model(images), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                running += loss.item()
            print(f"epoch {epoch}: loss {running / len(self.train_loader):.4f} val {self.validate():.3f}")

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        hits = [(self.model(x).argmax(1) == y).float() for x, y in self.val_loader]
        return torch.cat(hits).mean().item()


if __name__ == "__main__":
    config = FinetuneConfig()
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    FinetuneTrainer(config).fit()
