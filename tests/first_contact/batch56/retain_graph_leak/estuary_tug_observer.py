# expect: pattern = retain-graph-leak
# expect: also = recurrent-state
# expect: raises = nothing
# expect: carrier = xhat
# Learned observer for a tug in a tidal estuary. Noisy position in, filtered state out,
# trained online while the log is replayed (old lab code, python2 days, still in use)
from __future__ import print_function

import math

import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.optim.optimizer import Optimizer


class PlainSGD(Optimizer):
    """SGD with heavy ball, as it was written before torch 0.4."""

    def __init__(self, params, lr=0.01, momentum=0.8):
        super(PlainSGD, self).__init__(params, dict(lr=lr, momentum=momentum))

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is None:
                    continue
                d_p = p.grad.data
                buf = self.state[p].setdefault('buf', torch.zeros_like(d_p))
                buf.mul_(group['momentum']).add_(d_p)
                p.data.add_(buf, alpha=-group['lr'])


class Observer(nn.Module):
    """x+ = A x + net(x, u) + L (y - C x)"""

    def __init__(self, n=4, m=2, p=2):
        super(Observer, self).__init__()
        self.A = nn.Parameter(0.8 * torch.eye(n))
        self.L = nn.Parameter(0.1 * torch.randn(n, p))
        self.C = nn.Parameter(torch.eye(p, n))
        self.drift = nn.Sequential(nn.Linear(n + m, 12), nn.Tanh(), nn.Linear(12, n))

    def forward(self, xhat, u, y):
        innovation = y - xhat.mm(self.C.t())
        xhat = xhat.mm(self.A.t()) + 0.1 * self.drift(torch.cat([xhat, u], 1)) + innovation.mm(self.L.t())
        return xhat, innovation  # expect: place


def tug_log(length, tugs=6):
    """Position of several tugs, thrust commands, tide as unknown drift."""
    pos, vel = torch.zeros(tugs, 2), torch.zeros(tugs, 2)
    for k in range(length):
        u = torch.stack([torch.sin(torch.arange(tugs).float() + 0.2 * k), 0.5 * torch.ones(tugs)], 1)
        tide = 0.3 * math.sin(0.05 * k)
        vel = 0.9 * vel + 0.1 * u
        pos = 0.95 * pos + 0.2 * vel + 0.02 * tide
        yield Variable(u), Variable(pos + 0.02 * torch.randn(tugs, 2))


def replay(net, optimizer, window=6, length=120, tugs=6):
    xhat = Variable(torch.zeros(tugs, 4))
    errors, n = [], 0
    loss = 0
    for k, (u, y) in enumerate(tug_log(length, tugs)):
        xhat, innovation = net(xhat, u, y)  # expect: place
        loss = loss + innovation.pow(2).mean()
        if (k + 1) % window == 0:
            optimizer.zero_grad()
            # without retain_graph torch complains about the second window
            (loss / window).backward(retain_graph=True)  # expect: place
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            errors.append(loss.item() / window)
            loss = 0
            n += 1
            if n % 5 == 0:
                print('window %3d  innovation %.5f' % (n, sum(errors[-5:]) / 5))
    return errors


if __name__ == '__main__':
    torch.manual_seed(3)
    observer = Observer()
    curve = replay(observer, PlainSGD(observer.parameters(), lr=0.05))
    print('last window %.5f' % curve[-1])
