"""Shards that fit: contrastive codes of broken edges, with a queue of earlier codes as negatives."""
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

POINTS = 20


def edges(n, gen):
    """A fracture line, and the same line as its other shard shows it: flipped, worn, offset."""
    line = torch.cumsum(torch.randn(n, POINTS, generator=gen), 1)
    line = (line - line.mean(1, keepdim=True)) / line.std(1, keepdim=True)
    worn = F.avg_pool1d(line[:, None], 3, 1, 1)[:, 0] + 0.15 * torch.randn(n, POINTS, generator=gen)
    return line, -worn.flip(1) + 0.2 * torch.randn(n, 1, generator=gen)


class EdgeCode(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(POINTS, 40), nn.GELU(), nn.Linear(40, dim))
        self.log_scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class Queue:
    def __init__(self, batches):
        self.kept = deque(maxlen=batches)

    def push(self, codes):
        self.kept.append(codes.detach())

    def negatives(self):
        return torch.cat(list(self.kept)) if self.kept else None


def contrast(model, upper, lower, queue):
    a, b = model(upper), model(lower)
    keys = b if queue.negatives() is None else torch.cat([b, queue.negatives()])
    logits = model.log_scale.exp() * a @ keys.T
    return F.cross_entropy(logits, torch.arange(len(a))), b


@torch.no_grad()
def recall(model, gen, n=100):
    upper, lower = edges(n, gen)
    best = (model(upper) @ model(lower).T).argmax(1)
    return (best == torch.arange(n)).float().mean().item()


def main():
    torch.manual_seed(52)
    gen = torch.Generator().manual_seed(52)
    model, queue = EdgeCode(), Queue(batches=6)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    losses = []
    for step in range(120):
        loss, codes = contrast(model, *edges(32, gen), queue)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue.push(codes)
        losses.append(loss.item())
        if step % 30 == 29:
            print(f"{step + 1:4d} loss {sum(losses[-30:]) / 30:.3f} recall {recall(model, gen):.2f}")


main()
