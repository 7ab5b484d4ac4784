"""Contrastive training with a cross-batch memory: recent embeddings serve as extra negatives."""
import logging

import torch
import torch.nn.functional as F
from torch import nn

log = logging.getLogger("xbm")


class Queue:
    def __init__(self, dim, size):
        self.items = F.normalize(torch.randn(size, dim), dim=1)

    def __len__(self):
        return self.items.shape[0]

    def push(self, keys):
        keep = self.items[keys.shape[0]:]
        self.items = torch.cat([keep, keys])


class Encoder(nn.Sequential):
    def __init__(self, d_in, d_out):
        super().__init__(nn.Linear(d_in, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, d_out))

    def forward(self, x):
        return F.normalize(super().forward(x), dim=1)


class CrossBatch(nn.Module):
    def __init__(self, d_in=20, d_out=8, queue=64, temperature=0.2):
        super().__init__()
        self.encoder = Encoder(d_in, d_out)
        self.t = temperature
        self.queue = Queue(d_out, queue)

    def forward(self, view_a, view_b):
        q, k = self.encoder(view_a), self.encoder(view_b)
        positive = (q * k).sum(1, keepdim=True)
        negative = q.detach() @ self.queue.items.t()
        logits = torch.cat([positive, negative], 1) / self.t
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long)), q


def augment(x):
    return x + 0.1 * torch.randn_like(x)


def pretrain(steps=6):
    torch.manual_seed(21)
    model = CrossBatch()
    opt = torch.optim.SGD(model.encoder.parameters(), lr=0.05, momentum=0.9)
    for step in range(steps):
        x = torch.randn(16, 20)
        loss, embeddings = model(augment(x), augment(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
        model.queue.push(embeddings.detach())
        log.info("step %d", step)
        print(step, round(loss.item(), 4))


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    pretrain()
