

"""Apple scab from leaf spectra, orchard after orchard, without forgetting the earlier
ones: average gradient episodic memory. When the gradient of the new orchard points
against the one of the memory, the part that points against it is taken out."""
import torch
from torch import nn
import torch.nn.functional as F

BANDS, CLASSES = 12, 3


def orchard(seed, n=96):
    g = torch.Generator().manual_seed(seed)
    tilt = torch.randn(BANDS, CLASSES, generator=g)
    x = torch.randn(n, BANDS, generator=g)
    return x, (x @ tilt).argmax(1)


class EpisodicMemory:
    def __init__(self, per_task=24):
        self.per_task = per_task
        self.x, self.y = [], []

    def __len__(self):
        return len(self.x)

    def add(self, x, y):
        self.x.append(x[:self.per_task])
        self.y.append(y[:self.per_task])

    def all(self):
        return torch.cat(self.x), torch.cat(self.y)


class AgemLearner:
    def __init__(self, net, lr):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)
        self.memory = EpisodicMemory()
        self.corrected = 0

    def memory_gradient(self):
        x, y = self.memory.all()
        F.cross_entropy(self.net(x), y).backward()
        remembered = [p.grad.detach() for p in self.net.parameters()]
        self.opt.zero_grad(set_to_none=False)
        return remembered

    def observe(self, x, y):
        self.opt.zero_grad(set_to_none=False)
        remembered = self.memory_gradient() if len(self.memory) else None
        cost = F.cross_entropy(self.net(x), y)
        cost.backward()
        if remembered is not None:
            self.correct(remembered)
        self.opt.step()
        return cost.item()

    def correct(self, remembered):
        params = list(self.net.parameters())
        dot = sum((p.grad * r).sum() for p, r in zip(params, remembered))
        if dot >= 0:
            return
        size = sum(r.square().sum() for r in remembered)
        self.corrected += 1
        for p, r in zip(params, remembered):
            p.grad.sub_(dot / size * r)

    @torch.no_grad()
    def score(self, x, y):
        return (self.net(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(BANDS, 32), nn.ReLU(), nn.Linear(32, CLASSES))
    learner = AgemLearner(net, lr=0.1)
    tasks = [orchard(s) for s in (10, 20, 30)]
    for k, (x, y) in enumerate(tasks):
        for epoch in range(6):
            for lo in range(0, len(x), 24):
                cost = learner.observe(x[lo:lo + 24], y[lo:lo + 24])
        learner.memory.add(x, y)
        scores = "  ".join(f"{learner.score(*t):.2f}" for t in tasks[:k + 1])
        print(f"after orchard {k}: cost {cost:.3f}  scores {scores}  corrected {learner.corrected}")


if __name__ == "__main__":
    main()
