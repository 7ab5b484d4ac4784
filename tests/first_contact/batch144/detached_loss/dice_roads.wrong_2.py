# semantic segmentation of toy street scenes: sky / building / road / car
# loss = CE + Dice, as in most of the challenge solutions
import argparse
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ['sky', 'building', 'road', 'car']
NUM_CLASSES = len(CLASSES)
PALETTE = np.array([[.6, .7, .9], [.5, .4, .4], [.3, .3, .3], [.8, .2, .2]])


def seed_everything(seed):
    random.seed(seed)
    os.environ['PYTHONHASHSEED'] = str(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)


def draw_scene(h=24, w=32):
    label = np.zeros((h, w), dtype=np.int64)
    x = 0
    while x < w:
        width = np.random.randint(4, 10)
        label[np.random.randint(4, 14):, x:x + width] = 1
        x += width + np.random.randint(0, 4)
    label[16:, :] = 2
    for _ in range(np.random.randint(1, 3)):
        cx, cy = np.random.randint(0, w - 6), np.random.randint(16, 20)
        label[cy:cy + 3, cx:cx + 6] = 3
    image = PALETTE[label] + 0.15 * np.random.randn(h, w, 3)
    return image.transpose(2, 0, 1).astype(np.float32), label


def make_loader(n, batch_size, shuffle):
    scenes = [draw_scene() for _ in range(n)]
    images = torch.from_numpy(np.stack([s[0] for s in scenes]))
    labels = torch.from_numpy(np.stack([s[1] for s in scenes]))
    return DataLoader(TensorDataset(images, labels), batch_size, shuffle=shuffle)


def conv_bn_relu(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(True))


class FPNLite(nn.Module):
    def __init__(self, ch=12):
        super(FPNLite, self).__init__()
        self.c1 = conv_bn_relu(3, ch)
        self.c2 = conv_bn_relu(ch, ch * 2, 2)
        self.c3 = conv_bn_relu(ch * 2, ch * 4, 2)
        self.lat = nn.ModuleList([nn.Conv2d(c, ch, 1) for c in (ch, ch * 2, ch * 4)])
        self.cls = nn.Conv2d(ch, NUM_CLASSES, 3, padding=1)

    def forward(self, x):
        c1 = self.c1(x)
        c2 = self.c2(c1)
        c3 = self.c3(c2)
        p = self.lat[2](c3)
        p = F.interpolate(p, size=c2.shape[2:], mode='bilinear', align_corners=False) + self.lat[1](c2)
        p = F.interpolate(p, size=c1.shape[2:], mode='bilinear', align_corners=False) + self.lat[0](c1)
        return self.cls(F.relu(p))


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.):
        super(DiceLoss, self).__init__()
        self.smooth = smooth

    def forward(self, logits, target):
        pred = torch.softmax(logits, dim=1).round()
        target = F.one_hot(target, NUM_CLASSES).permute(0, 3, 1, 2).float()
        inter = (pred * target).sum(dim=(0, 2, 3))
        card = (pred + target).sum(dim=(0, 2, 3))
        dice = (2 * inter + self.smooth) / (card + self.smooth)
        return 1 - dice.mean()


def mean_iou(model, loader):
    model.eval()
    hist = np.zeros((NUM_CLASSES, NUM_CLASSES))
    with torch.no_grad():
        for x, y in loader:
            p = model(x).argmax(1)
            hist += np.bincount((NUM_CLASSES * y + p).view(-1).numpy(), minlength=NUM_CLASSES ** 2).reshape(NUM_CLASSES, -1)
    return np.diag(hist) / (hist.sum(0) + hist.sum(1) - np.diag(hist) + 1e-9)


def main(opt):
    seed_everything(opt.seed)
    train_loader = make_loader(36, opt.bs, True)
    val_loader = make_loader(12, opt.bs, False)
    net = FPNLite()
    ce = nn.CrossEntropyLoss()
    dice = DiceLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=opt.lr, momentum=0.9, weight_decay=1e-4)
    poly = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: (1 - e / opt.epochs) ** 0.9)
    for epoch in range(opt.epochs):
        net.train()
        log = np.zeros(2)
        for x, y in train_loader:
            logits = net(x)
            loss_ce = ce(logits, y)
            loss_dice = dice(logits, y)
            loss = loss_ce + opt.dice_weight * loss_dice
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log += [loss_ce.item(), loss_dice.item()]
        poly.step()
        iou = mean_iou(net, val_loader)
        print('epoch %d ce %.3f dice %.3f | mIoU %.3f ' % (epoch, *(log / len(train_loader)), iou.mean()),
              ' '.join('%s %.2f' % z for z in zip(CLASSES, iou)))


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--lr', type=float, default=0.05)
    ap.add_argument('--bs', type=int, default=6)
    ap.add_argument('--epochs', type=int, default=5)
    ap.add_argument('--dice_weight', type=float, default=2.0)
    ap.add_argument('--seed', type=int, default=0)
    main(ap.parse_args())
