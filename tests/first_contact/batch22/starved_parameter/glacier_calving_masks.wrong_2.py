# kaggle: calving fronts from radar, 2 outputs (ice mask + front line). v17  cv 0.41 ???
# ice mask comes out as noise, front line is fine
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class CFG:
    seed = 2024
    epochs = 4
    bs = 8
    lr = 4e-3
    thr = 0.5
    w_front = 0.5
    size = 24


def seed_everything(s):
    random.seed(s)
    np.random.seed(s)
    torch.manual_seed(s)


class DiceLoss(nn.Module):
    """dice on the binary mask, same as the metric of the competition"""

    def __init__(self, thr=0.5, eps=1.0):
        super().__init__()
        self.thr, self.eps = thr, eps

    def forward(self, logits, target):
        pred = torch.sigmoid(logits)
        pred = (pred > self.thr).float()
        intersection = (pred * target).sum(dim=(1, 2, 3))
        union = pred.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
        return 1 - ((2 * intersection + self.eps) / (union + self.eps)).mean()


class TwoHeadNet(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU(inplace=True),
            nn.Conv2d(ch, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU(inplace=True),
        )
        self.mask_head = nn.Sequential(nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(ch, 1, 1))
        self.front_head = nn.Conv2d(ch, 1, 1)

    def forward(self, x):
        f = self.enc(x)
        return self.mask_head(f), self.front_head(f)


def radar(n, size):
    col = torch.arange(size).view(1, 1, 1, -1)
    edge = torch.randint(6, size - 6, (n, 1, size, 1)).float().mean(2, keepdim=True) + torch.randn(n, 1, size, 1)
    ice = (col < edge).float()
    front = ((col - edge).abs() < 1.5).float()
    return ice * 1.5 - 0.75 + 0.6 * torch.randn(n, 1, size, size), ice, front


def train_one_epoch(model, data, optimizer, scheduler, dice, bce):
    model.train()
    x, ice, front = data
    order = torch.randperm(len(x))
    losses = []
    for idx in order.split(CFG.bs):
        m, f = model(x[idx])
        loss = dice(m, ice[idx]) + CFG.w_front * bce(f, front[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return np.mean(losses)


@torch.no_grad()
def valid(model, data):
    model.eval()
    x, ice, _ = data
    p = (torch.sigmoid(model(x)[0]) > CFG.thr).float()
    return (2 * (p * ice).sum() / (p.sum() + ice.sum() + 1e-6)).item()


def run():
    seed_everything(CFG.seed)
    train, val = radar(48, CFG.size), radar(16, CFG.size)
    model = TwoHeadNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=CFG.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, CFG.lr, total_steps=CFG.epochs * 6)
    dice, bce = DiceLoss(CFG.thr), nn.BCEWithLogitsLoss()
    for ep in range(CFG.epochs):
        tr = train_one_epoch(model, train, optimizer, scheduler, dice, bce)
        print(f'ep {ep} | train {tr:.4f} | val dice {valid(model, val):.4f}')


if __name__ == '__main__':
    run()
