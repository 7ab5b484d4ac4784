"""DQN with prioritised replay: the importance weights go on each transition's error."""
import collections
import itertools

import numpy as np
import torch
import torch.nn as nn

Batch = collections.namedtuple("Batch", "s a r s2 done weight index")


class PrioritisedReplay:
    def __init__(self, size, alpha=0.6, beta=0.4, seed=0):
        self.size, self.alpha, self.beta = size, alpha, beta
        self.data, self.priority = [], np.zeros(size)
        self.rng = np.random.default_rng(seed)

    def add(self, *transition):
        i = len(self.data) % self.size
        self.data.append(transition)
        self.priority[i] = self.priority.max() or 1.0

    def sample(self, n):
        p = self.priority[:len(self.data)] ** self.alpha
        p = p / p.sum()
        index = self.rng.choice(len(p), n, p=p)
        weight = (len(p) * p[index]) ** -self.beta
        weight = torch.tensor(weight / weight.max(), dtype=torch.float32)
        cols = [torch.as_tensor(np.array(c)) for c in zip(*[self.data[i] for i in index])]
        return Batch(*cols, weight, index)

    def refresh(self, index, error):
        self.priority[index] = np.abs(error) + 1e-3


class QNet(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))


def learn(net, target, opt, batch, gamma=0.98):
    q = net(batch.s).gather(1, batch.a[:, None]).squeeze(1)
    with torch.no_grad():
        y = batch.r + gamma * (1 - batch.done) * target(batch.s2).max(1).values
    error = y - q
    loss = batch.weight * nn.functional.smooth_l1_loss(q, y, reduction="none")
    loss = loss.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return error.detach().numpy(), loss.mean().item()


def walk(rng):
    s = rng.normal(size=4).astype(np.float32)
    for t in itertools.count():
        a = int(rng.integers(3))
        s2 = (0.9 * s + 0.2 * (a - 1) + 0.1 * rng.normal(size=4)).astype(np.float32)
        yield s, a, np.float32(-np.square(s2).mean()), s2, np.float32(t % 20 == 19)
        s = s2


def main():
    torch.manual_seed(7)
    net, target = QNet(), QNet()
    target.load_state_dict(net.state_dict())
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    replay = PrioritisedReplay(300)
    for n, step in enumerate(itertools.islice(walk(np.random.default_rng(7)), 60)):
        replay.add(*step)
        if n >= 40:
            batch = replay.sample(16)
            error, loss = learn(net, target, opt, batch)
            replay.refresh(batch.index, error)
            if n % 5 == 0:
                target.load_state_dict(net.state_dict())
                print(n, round(loss, 5))


main()
