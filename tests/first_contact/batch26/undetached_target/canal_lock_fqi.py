# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = y, targets, next_q, best_next
"""Fitted Q iteration from logged operation of a canal lock.

State: water level above, level below, boats waiting on either side.
"""
import copy

import numpy as np
import torch
from torch import nn

GAMMA = 0.97
ACTIONS = 3      # fill, empty, wait


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.value = nn.Linear(32, 1)
        self.advantage = nn.Linear(32, ACTIONS)

    def forward(self, s):
        h = self.body(s)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=1, keepdim=True)


def logbook(n, rng):
    s = rng.normal(size=(n, 4)).astype(np.float32)
    a = rng.integers(0, ACTIONS, size=n)
    s2 = (0.9 * s + 0.2 * np.eye(4, dtype=np.float32)[a] + 0.05 * rng.normal(size=(n, 4))).astype(np.float32)
    r = -(np.abs(s2[:, 2]) + np.abs(s2[:, 3]) + 0.1 * (a != 2)).astype(np.float32)
    done = (rng.random(n) < 0.05).astype(np.float32)
    return [torch.from_numpy(v) for v in (s, a, r, s2, done)]


class FittedQ:
    def __init__(self, net, lr=1e-3, inner=8, batch=64):
        self.net = net
        self.frozen = copy.deepcopy(net)
        self.optim = torch.optim.RMSprop(net.parameters(), lr=lr)
        self.inner, self.batch = inner, batch

    def bellman_targets(self, r, s2, done):
        best_next = self.frozen(s2).max(dim=1).values  # expect: place
        return r + GAMMA * (1 - done) * best_next  # expect: place

    def iterate(self, data):
        s, a, r, s2, done = data
        y = self.bellman_targets(r, s2, done)  # expect: place
        losses = []
        for _ in range(self.inner):
            rows = torch.randint(0, len(s), (self.batch,))
            q = self.net(s[rows]).gather(1, a[rows, None]).squeeze(1)
            loss = nn.functional.smooth_l1_loss(q, y[rows])  # expect: place
            self.optim.zero_grad()
            loss.backward()  # expect: place
            self.optim.step()
            losses.append(loss.item())
        self.frozen.load_state_dict(self.net.state_dict())
        return sum(losses) / len(losses)


if __name__ == "__main__":
    torch.manual_seed(2)
    data = logbook(400, np.random.default_rng(2))
    fq = FittedQ(QNet())
    for k in range(5):
        print("iteration", k, "td", round(fq.iterate(data), 4))
    with torch.no_grad():
        share = torch.bincount(fq.net(data[0]).argmax(1), minlength=ACTIONS) / len(data[0])
    print("fill/empty/wait", share.tolist())
