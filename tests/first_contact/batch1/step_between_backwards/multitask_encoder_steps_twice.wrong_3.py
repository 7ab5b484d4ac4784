# Two dense tasks on one encoder; the encoder is stepped after each task, the heads once each.
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class SharedEncoder(nn.Module):
    def __init__(self, width=16, p=0.2):
        super().__init__()
        self.layers = nn.Sequential(OrderedDict(
            conv1=nn.Conv1d(2, width, 3, padding=1), act1=nn.ReLU(), drop=nn.Dropout(p),
            conv2=nn.Conv1d(width, width, 3, padding=1), act2=nn.ReLU(),
        ))

    def forward(self, x):
        return self.layers(x)


def synthetic_batch(n, gen):
    x = torch.randn(n, 2, 12, generator=gen)
    seg = (x.sum(1) > 0).long()
    depth = x[:, :1].abs() + 0.1 * x[:, 1:]
    return x, seg, depth


class Trainer:
    def __init__(self, lr=0.02):
        self.encoder = SharedEncoder()
        self.seg_head = nn.Conv1d(16, 2, 1)
        self.depth_head = nn.Conv1d(16, 1, 1)
        self.opt_enc = torch.optim.SGD(self.encoder.parameters(), lr=lr)
        self.opt_seg = torch.optim.SGD(self.seg_head.parameters(), lr=lr)
        self.opt_depth = torch.optim.SGD(self.depth_head.parameters(), lr=lr)

    def train_batch(self, x, seg, depth):
        feats = self.encoder(x)
        seg_loss = F.cross_entropy(self.seg_head(feats), seg)
        depth_loss = F.smooth_l1_loss(self.depth_head(feats), depth)

        # -- segmentation
        self.opt_enc.zero_grad()
        self.opt_seg.zero_grad()
        seg_loss.backward(retain_graph=True)

        # -- depth
        self.opt_depth.zero_grad()
        depth_loss.backward()
        self.opt_enc.step()
        self.opt_seg.step()
        self.opt_enc.step()
        self.opt_depth.step()
        return seg_loss.item(), depth_loss.item()

    def fit(self, steps, seed=0):
        gen = torch.Generator().manual_seed(seed)
        for step in range(steps):
            seg_loss, depth_loss = self.train_batch(*synthetic_batch(8, gen))
            if step % 3 == 0:
                print("step {}: seg {:.4f} / depth {:.4f}".format(step, seg_loss, depth_loss))


if __name__ == "__main__":
    torch.manual_seed(7)
    Trainer().fit(steps=9)
