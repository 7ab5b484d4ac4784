"""Learning with noisy labels: cross entropy plus early-learning regularization."""
import json
import logging
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(name)s %(message)s")

CONFIG = json.loads("""
{
    "seed": 123,
    "num_classes": 4,
    "num_examp": 320,
    "percent_noise": 0.3,
    "batch_size": 40,
    "epochs": 3,
    "optimizer": {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.001},
    "lr_scheduler": {"milestones": [2], "gamma": 0.1},
    "train_loss": {"beta": 0.7, "lambda": 3.0}
}
""")


class NoisyPatterns(Dataset):
    """Striped 12x12 textures, one orientation a class; some labels are drawn at random."""

    def __init__(self, n, num_classes, noise=0.0):
        self.clean = torch.randint(0, num_classes, (n,))
        angle = self.clean.float() * torch.pi / num_classes
        yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
        phase = 6.28 * torch.rand(n, 1, 1)
        wave = angle.cos()[:, None, None] * xx + angle.sin()[:, None, None] * yy
        self.images = torch.sin(1.3 * wave + phase).unsqueeze(1)
        self.images = self.images + 0.4 * torch.randn_like(self.images)
        flip = torch.rand(n) < noise
        self.labels = torch.where(flip, torch.randint(0, num_classes, (n,)), self.clean)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index], index


class TextureNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 5, padding=2)
        self.bn1 = nn.BatchNorm2d(12)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(24)
        self.fc = nn.Linear(24, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(x.mean(dim=(2, 3)))


class ELRLoss(nn.Module):
    def __init__(self, num_examp, num_classes, beta, lam):
        super().__init__()
        self.target = torch.zeros(num_examp, num_classes)
        self.beta = beta
        self.lam = lam

    def forward(self, index, output, label):
        y_pred = F.softmax(output.detach(), dim=1)
        y_pred = torch.clamp(y_pred, 1e-4, 1.0 - 1e-4)
        y_norm = y_pred / y_pred.sum(dim=1, keepdim=True)
        self.target[index] = self.beta * self.target[index] + (1 - self.beta) * y_norm
        ce_loss = F.cross_entropy(output, label)
        elr_reg = (1 - (self.target[index] * y_pred).sum(dim=1)).log().mean()
        return ce_loss + self.lam * elr_reg


class Trainer:
    def __init__(self, config):
        self.config = config
        self.logger = logging.getLogger("trainer")
        classes = config["num_classes"]
        self.train_set = NoisyPatterns(config["num_examp"], classes, config["percent_noise"])
        self.val_set = NoisyPatterns(80, classes)
        self.model = TextureNet(classes)
        loss_args = config["train_loss"]
        self.criterion = ELRLoss(
            config["num_examp"], classes, loss_args["beta"], loss_args["lambda"]
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), **config["optimizer"])
        self.lr_scheduler = torch.optim.lr_scheduler.MultiStepLR(
            self.optimizer, **config["lr_scheduler"]
        )

    def _train_epoch(self):
        self.model.train()
        loader = DataLoader(self.train_set, self.config["batch_size"], shuffle=True)
        total_loss = 0.0
        for data, label, index in loader:
            output = self.model(data)
            loss = self.criterion(index, output, label)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total_loss += loss.item()
        return total_loss / len(loader)

    def _valid_epoch(self):
        self.model.eval()
        with torch.no_grad():
            output = self.model(self.val_set.images)
        return (output.argmax(dim=1) == self.val_set.labels).float().mean().item()

    def train(self):
        for epoch in range(1, self.config["epochs"] + 1):
            loss = self._train_epoch()
            acc = self._valid_epoch()
            self.lr_scheduler.step()
            self.logger.info("epoch %d loss %.4f val_acc %.3f", epoch, loss, acc)


if __name__ == "__main__":
    torch.manual_seed(CONFIG["seed"])
    Trainer(CONFIG).train()
