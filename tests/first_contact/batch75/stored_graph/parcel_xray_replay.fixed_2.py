"""Class-incremental sorting of customs x-rays with dark experience replay."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Buffer:
    def __init__(self, size, seed=0):
        self.size, self.seen = size, 0
        self.examples, self.logits = [], []
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.examples)

    def add_data(self, examples, logits):
        for x, z in zip(examples, logits):
            self.seen += 1
            if len(self.examples) < self.size:
                self.examples.append(x)
                self.logits.append(z)
                continue
            slot = self.rng.integers(0, self.seen)
            if slot < self.size:
                self.examples[slot] = x
                self.logits[slot] = z

    def get_data(self, n):
        pick = self.rng.choice(len(self.examples), min(n, len(self.examples)), replace=False)
        return torch.stack([self.examples[i] for i in pick]), torch.stack([self.logits[i] for i in pick])


class Der:
    def __init__(self, net, lr=0.05, alpha=0.5, minibatch_size=16):
        self.net, self.alpha, self.minibatch_size = net, alpha, minibatch_size
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)
        self.buffer = Buffer(64)

    def observe(self, inputs, labels):
        self.opt.zero_grad()
        outputs = self.net(inputs)
        loss = F.cross_entropy(outputs, labels)

        if len(self.buffer):
            buf_inputs, buf_logits = self.buffer.get_data(self.minibatch_size)
            buf_outputs = self.net(buf_inputs)
            loss = loss + self.alpha * F.mse_loss(buf_outputs, buf_logits)

        loss.backward()
        self.opt.step()
        with torch.no_grad():
            outputs = self.net(inputs)
        self.buffer.add_data(examples=inputs, logits=outputs)
        return loss.item()


def parcels(task, n, rng):
    """Two new kinds of contents arrive with every task."""
    y = rng.integers(2 * task, 2 * task + 2, n)
    x = rng.normal(0, 0.5, (n, 12))
    x[np.arange(n), y] += 2.0
    x[np.arange(n), (y * 5 + 3) % 12] += 1.0
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


if __name__ == "__main__":
    torch.manual_seed(9)
    rng = np.random.default_rng(9)
    model = Der(nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 6)))
    for task in range(3):
        for step in range(10):
            loss = model.observe(*parcels(task, 16, rng))
        scores = []
        for old in range(task + 1):
            x, y = parcels(old, 64, rng)
            with torch.no_grad():
                scores.append((model.net(x).argmax(1) == y).float().mean().item())
        print(f"task {task} loss {loss:.3f} accuracies", np.round(scores, 2))
