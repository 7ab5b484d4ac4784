# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = ref, reference
# Averaged GEM on a sequence of machine-condition tasks (same sensors, the meaning of the labels drifts)
from __future__ import print_function

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable


class Net(nn.Module):
    def __init__(self, n_in, n_hid, n_out):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(n_in, n_hid)
        self.fc2 = nn.Linear(n_hid, n_hid)
        self.out = nn.Linear(n_hid, n_out)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.out(x)


class EpisodicMemory(object):
    def __init__(self, per_task, rng):
        self.per_task, self.rng = per_task, rng
        self.x, self.y = [], []

    def __len__(self):
        return len(self.x)

    def remember(self, x, y):
        keep = self.rng.choice(len(x), self.per_task, replace=False)
        self.x.append(x[keep])
        self.y.append(y[keep])

    def sample(self, n):
        x, y = np.concatenate(self.x), np.concatenate(self.y)
        pick = self.rng.randint(0, len(x), n)
        return Variable(torch.from_numpy(x[pick])), Variable(torch.from_numpy(y[pick]))


class AGEM(object):
    def __init__(self, net, lr, memory, mem_batch=32):
        self.net, self.memory, self.mem_batch = net, memory, mem_batch
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)
        self.ce = nn.CrossEntropyLoss()
        self.projected = 0

    def zero(self):
        for p in self.net.parameters():
            if p.grad is not None:
                p.grad.data.zero_()

    def reference_gradient(self):
        """Mean gradient over what is kept from the earlier tasks."""
        self.zero()
        x, y = self.memory.sample(self.mem_batch)
        self.ce(self.net(x), y).backward()
        return [p.grad.detach() for p in self.net.parameters()]  # expect: place

    def observe(self, x, y):
        reference = None
        if len(self.memory):
            reference = self.reference_gradient()  # expect: place
        self.zero()  # expect: place
        loss = self.ce(self.net(x), y)
        loss.backward()  # expect: place
        if reference is not None:
            self.project(reference)
        self.opt.step()
        return loss.item()

    def project(self, reference):
        """Remove the part of the gradient that would raise the loss on the memory."""
        params = list(self.net.parameters())
        dot = sum((p.grad * r).sum() for p, r in zip(params, reference))  # expect: place
        if dot.item() < 0:
            norm = sum((r * r).sum() for r in reference)
            for p, r in zip(params, reference):
                p.grad.data.sub_(r * (dot / norm))
            self.projected += 1


def make_task(rng, shift, n=256, n_in=10):
    """Four conditions; the prototypes are moved and partly renamed from one task to the next."""
    protos = np.random.RandomState(0).randn(4, n_in) + 0.9 * np.random.RandomState(50 + shift).randn(4, n_in)
    y = rng.randint(0, 4, n)
    x = protos[y] + 0.8 * rng.randn(n, n_in)
    names = np.roll(np.arange(4), 1) if shift == 2 else np.arange(4)
    return x.astype(np.float32), names[y].astype(np.int64)


def accuracy(net, x, y):
    with torch.no_grad():
        return (net(torch.from_numpy(x)).argmax(1) == torch.from_numpy(y)).float().mean().item()


def main():
    torch.manual_seed(1)
    rng = np.random.RandomState(1)
    learner = AGEM(Net(10, 32, 4), lr=0.1, memory=EpisodicMemory(24, rng))
    tasks = [make_task(rng, k) for k in range(3)]
    for k, (x, y) in enumerate(tasks):
        for epoch in range(4):
            order = rng.permutation(len(x))
            losses = []
            for i in range(0, len(x), 16):
                j = order[i:i + 16]
                losses.append(learner.observe(Variable(torch.from_numpy(x[j])), Variable(torch.from_numpy(y[j]))))
        learner.memory.remember(x, y)
        accs = " ".join("%.2f" % accuracy(learner.net, *tasks[m]) for m in range(k + 1))
        print("after task %d: loss %.3f  acc %s  (projected so far: %d)" % (k, np.mean(losses), accs, learner.projected))


if __name__ == "__main__":
    main()
