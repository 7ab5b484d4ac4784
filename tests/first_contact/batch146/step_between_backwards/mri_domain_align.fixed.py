"""Unsupervised domain adaptation for lesion segmentation: 1.5T (labelled) -> 3T (unlabelled)."""
import argparse
import logging

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger("uda")


class PhantomSlices(Dataset):
    """Round lesions on a noisy background; `gain` and `bias` imitate another scanner."""

    def __init__(self, n, size, gain=1.0, bias=0.0, seed=0):
        rng = np.random.RandomState(seed)
        yy, xx = np.mgrid[:size, :size]
        images, masks = [], []
        for _ in range(n):
            cy, cx = rng.uniform(size * 0.3, size * 0.7, 2)
            r = rng.uniform(2.5, 4.5)
            mask = ((yy - cy) ** 2 + (xx - cx) ** 2 < r ** 2).astype(np.float32)
            image = gain * (mask + 0.3 * rng.randn(size, size)) + bias
            images.append(image.astype(np.float32))
            masks.append(mask)
        self.images = torch.from_numpy(np.stack(images)).unsqueeze(1)
        self.masks = torch.from_numpy(np.stack(masks)).unsqueeze(1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


class Encoder(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, ch, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch, ch, 3, padding=1),
        )

    def forward(self, x):
        return self.body(x)


class DomainClassifier(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.conv = nn.Conv2d(ch, 16, 3, stride=2, padding=1)
        self.out = nn.Linear(16, 1)

    def forward(self, feat):
        h = F.leaky_relu(self.conv(feat), 0.2).mean(dim=(2, 3))
        return self.out(h)


class AdaptationTrainer:
    def __init__(self, args):
        self.args = args
        self.encoder = Encoder(args.channels)
        self.head = nn.Conv2d(args.channels, 1, 1)
        self.domain = DomainClassifier(args.channels)
        seg_params = list(self.encoder.parameters()) + list(self.head.parameters())
        self.opt_seg = torch.optim.Adam(seg_params, lr=args.lr)
        self.opt_dom = torch.optim.Adam(self.domain.parameters(), lr=args.lr_domain, betas=(0.5, 0.999))
        self.pos_weight = torch.tensor(args.pos_weight)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt_seg, step_size=3, gamma=0.5)

    def domain_loss(self, logits, label):
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))

    def train_step(self, src, mask, tgt):
        feat_src = self.encoder(src)
        feat_tgt = self.encoder(tgt)

        seg_loss = F.binary_cross_entropy_with_logits(self.head(feat_src), mask, pos_weight=self.pos_weight)
        adv_loss = self.domain_loss(self.domain(feat_tgt), 1.0)
        self.opt_seg.zero_grad()
        (seg_loss + self.args.lambda_adv * adv_loss).backward()
        self.opt_seg.step()

        d_loss = self.domain_loss(self.domain(feat_src.detach()), 1.0)
        d_loss = d_loss + self.domain_loss(self.domain(feat_tgt.detach()), 0.0)
        self.opt_dom.zero_grad()
        d_loss.backward()
        self.opt_dom.step()
        return seg_loss.item(), adv_loss.item(), d_loss.item()

    @torch.no_grad()
    def dice(self, loader):
        inter, total = 0.0, 0.0
        for image, mask in loader:
            pred = (self.head(self.encoder(image)) > 0).float()
            inter += (pred * mask).sum().item()
            total += (pred.sum() + mask.sum()).item()
        return 2 * inter / max(total, 1.0)

    def fit(self, src_loader, tgt_loader, val_loader):
        for epoch in range(self.args.epochs):
            for (src, mask), (tgt, _) in zip(src_loader, tgt_loader):
                seg, adv, dom = self.train_step(src, mask, tgt)
            self.sched.step()
            logger.info("epoch %d seg %.3f adv %.3f dom %.3f dice %.3f",
                        epoch, seg, adv, dom, self.dice(val_loader))


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--channels", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--lr-domain", type=float, default=1e-3)
    parser.add_argument("--pos-weight", type=float, default=5.0)
    parser.add_argument("--lambda-adv", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=11)
    return parser.parse_args()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    args = parse_args()
    torch.manual_seed(args.seed)
    source = DataLoader(PhantomSlices(32, 20, seed=1), batch_size=8, shuffle=True)
    target = DataLoader(PhantomSlices(32, 20, gain=1.4, bias=0.3, seed=2), batch_size=8, shuffle=True)
    val = DataLoader(PhantomSlices(16, 20, gain=1.4, bias=0.3, seed=3), batch_size=8)
    AdaptationTrainer(args).fit(source, target, val)
