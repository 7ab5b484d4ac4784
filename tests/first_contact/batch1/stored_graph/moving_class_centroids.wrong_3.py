"""Domain adaptation: align moving class centroids of source and target features."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description="centroid alignment")
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("--steps", default=5, type=int)
parser.add_argument("--decay", default=0.7, type=float)
parser.add_argument("--lam", default=0.5, type=float)
parser.add_argument("--lr", default=0.05, type=float)
opt = parser.parse_args()

N_CLASS, DIM = 3, 8


class Centroids(object):
    def __init__(self, decay):
        self.decay = decay
        self.src_centroid = torch.zeros(N_CLASS, DIM)
        self.tgt_centroid = torch.zeros(N_CLASS, DIM)

    def per_class(self, feat, label):
        onehot = F.one_hot(label, N_CLASS).float()
        count = onehot.sum(0).clamp(min=1.0).unsqueeze(1)
        return onehot.t() @ feat / count

    def semantic_loss(self, feat_s, y_s, feat_t, y_t):
        s = self.decay * self.src_centroid + (1 - self.decay) * self.per_class(feat_s, y_s)
        t = self.decay * self.tgt_centroid + (1 - self.decay) * self.per_class(feat_t, y_t)
        self.src_centroid = s.detach()
        self.tgt_centroid = t = t.detach()
        return F.mse_loss(s, t)


def domain(rng, n, shift):
    y = rng.integers(0, N_CLASS, n)
    x = rng.normal(size=(n, 5)) * 0.5
    x[np.arange(n), y] += 2.0
    return torch.tensor(x + shift, dtype=torch.float32), torch.tensor(y)


torch.manual_seed(20)
rng = np.random.default_rng(20)
features = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, DIM))
classifier = nn.Linear(DIM, N_CLASS)
optimizer = torch.optim.SGD(
    [{"params": features.parameters()}, {"params": classifier.parameters(), "lr": 2 * opt.lr}],
    lr=opt.lr, momentum=0.9,
)
centroids = Centroids(opt.decay)

for epoch in range(opt.epochs):
    for step in range(opt.steps):
        xs, ys = domain(rng, 24, shift=0.0)
        xt, _ = domain(rng, 24, shift=0.8)
        fs, ft = features(xs), features(xt)
        pseudo = classifier(ft).argmax(dim=1)

        cls_loss = F.cross_entropy(classifier(fs), ys)
        sem_loss = centroids.semantic_loss(fs, ys, ft, pseudo)
        loss = cls_loss + opt.lam * sem_loss

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch {} cls {:.4f} sem {:.4f}".format(epoch, cls_loss.item(), sem_loss.item()))
