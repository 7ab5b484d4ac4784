"""A-GEM on a stream of soil-spectra tasks: averaged gradient episodic memory."""
import random
from typing import List

import torch
from torch import Tensor, nn


class EpisodicMemory:
    def __init__(self, per_task: int):
        self.per_task = per_task
        self.items: List[tuple] = []

    def add(self, x: Tensor, y: Tensor) -> None:
        keep = torch.randperm(len(x))[: self.per_task]
        self.items += list(zip(x[keep], y[keep]))

    def draw(self, n: int):
        xs, ys = zip(*random.sample(self.items, min(n, len(self.items))))
        return torch.stack(xs), torch.stack(ys)


class AGEM:
    def __init__(self, net: nn.Module, lr: float, memory: EpisodicMemory, mem_batch: int):
        self.net = net
        self.memory = memory
        self.mem_batch = mem_batch
        self.criterion = nn.CrossEntropyLoss()
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)
        self.projected = 0

    def gradients(self) -> List[Tensor]:
        return [p.grad.clone() for p in self.net.parameters()]

    def observe(self, x: Tensor, y: Tensor) -> float:
        g_ref = None
        if self.memory.items:
            self.opt.zero_grad(set_to_none=False)
            mx, my = self.memory.draw(self.mem_batch)
            self.criterion(self.net(mx), my).backward()
            g_ref = self.gradients()

        self.opt.zero_grad(set_to_none=False)
        loss = self.criterion(self.net(x), y)
        loss.backward()

        if g_ref is not None:
            g = self.gradients()
            dot = sum((a * b).sum() for a, b in zip(g, g_ref))
            if dot < 0:
                ref_norm = sum((b * b).sum() for b in g_ref)
                for p, b in zip(self.net.parameters(), g_ref):
                    p.grad = p.grad - dot / ref_norm * b
                self.projected += 1
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self, x: Tensor, y: Tensor) -> float:
        return (self.net(x).argmax(1) == y).float().mean().item()


def spectra_task(seed: int, n: int = 160, bands: int = 12, classes: int = 4):
    g = torch.Generator().manual_seed(seed)
    mix = torch.randn(bands, bands, generator=g) / bands ** 0.5
    centres = 2 * torch.randn(classes, bands, generator=g)
    y = torch.randint(classes, (n,), generator=g)
    x = (centres[y] + torch.randn(n, bands, generator=g)) @ mix
    return x, y


def main():
    torch.manual_seed(0)
    random.seed(0)
    net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
    learner = AGEM(net, lr=0.1, memory=EpisodicMemory(per_task=16), mem_batch=32)
    tasks = [spectra_task(s) for s in (1, 2, 3)]
    for t, (x, y) in enumerate(tasks):
        for i in range(0, len(x), 16):
            loss = learner.observe(x[i:i + 16], y[i:i + 16])
        learner.memory.add(x, y)
        print(f"task {t} loss {loss:.3f}", " ".join(f"{learner.accuracy(*s):.2f}" for s in tasks[: t + 1]),
              f"projections {learner.projected}")


if __name__ == "__main__":
    main()
