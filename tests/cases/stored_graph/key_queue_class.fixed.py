from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class KeyQueue:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def push(self, keys):
        for key in keys:
            self.items.append(key)

    def __len__(self):
        return len(self.items)

    def tensor(self):
        return torch.stack(list(self.items))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def info_nce(q, k, queue, tau=0.2):
    pos = (q * k).sum(1, keepdim=True)
    neg = q @ queue.tensor().t()
    return F.cross_entropy(torch.cat([pos, neg], 1) / tau, torch.zeros(len(q), dtype=torch.long))


def main():
    torch.manual_seed(0)
    enc = Encoder()
    opt = torch.optim.SGD(enc.parameters(), lr=0.1, momentum=0.9)
    queue = KeyQueue(32)
    queue.push(F.normalize(torch.randn(8, 8), dim=1))
    for step in range(6):
        x = torch.randn(4, 10)
        q, k = enc(x + 0.1 * torch.randn_like(x)), enc(x)
        loss = info_nce(q, k, queue)
        opt.zero_grad()
        loss.backward()
        opt.step()
        queue.push(k.detach())
        print(step, loss.item())


if __name__ == "__main__":
    main()
