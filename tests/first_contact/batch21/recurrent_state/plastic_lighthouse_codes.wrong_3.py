# Differentiable plasticity: every connection has a fixed part and a Hebbian part that the net
# writes while it runs. Task: after hearing a few periods of a lighthouse's flash code, say whether
# the next slot is light or dark. The stream never ends, lighthouses drift out of sight.
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument('--hs', type=int, default=24)
parser.add_argument('--chunk', type=int, default=12)
parser.add_argument('--nbiter', type=int, default=30)
parser.add_argument('--lr', type=float, default=2e-3)
params = vars(parser.parse_args([]))


class PlasticMemory:
    """what the network carries while it lives"""

    def __init__(self, hs):
        self.hidden = torch.zeros(1, hs)
        self.hebb = torch.zeros(hs, hs)

    def cut(self):
        self.hidden = self.hidden.detach()

    def forget(self):
        self.hidden.zero_()
        self.hebb.zero_()


class PlasticNet(nn.Module):
    def __init__(self, hs):
        super().__init__()
        self.i2h = nn.Linear(3, hs)
        self.w = nn.Parameter(0.05 * torch.randn(hs, hs))
        self.alpha = nn.Parameter(0.01 * torch.rand(hs, hs))
        self.eta = nn.Parameter(torch.tensor(0.05))
        self.h2o = nn.Linear(hs, 1)

    def forward(self, inp, memory):
        pre = memory.hidden
        post = torch.tanh(self.i2h(inp) + pre @ (self.w + self.alpha * memory.hebb))
        memory.hebb = (1 - self.eta) * memory.hebb + self.eta * torch.outer(pre[0], post[0])
        memory.hebb = memory.hebb.detach()
        memory.hidden = post
        return self.h2o(post)


def flashes():
    while True:
        code = [random.random() < 0.4 for _ in range(random.randint(3, 5))]
        for _ in range(random.randint(6, 10)):
            for lit in code:
                yield float(lit)


random.seed(11)
torch.manual_seed(11)
net = PlasticNet(params['hs'])
optimizer = torch.optim.Adam(net.parameters(), lr=params['lr'])
memory = PlasticMemory(params['hs'])
sea = flashes()
lit = next(sea)
smooth = None
for numiter in range(params['nbiter']):
    memory.cut()
    optimizer.zero_grad()
    loss = torch.zeros(1)
    for _ in range(params['chunk']):
        inp = torch.tensor([[lit, 1. - lit, 1.]])
        guess = net(inp, memory)
        lit = next(sea)
        loss = loss + F.binary_cross_entropy_with_logits(guess[0], torch.tensor([lit]))
    loss = loss / params['chunk']
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 2.0)
    optimizer.step()
    smooth = float(loss) if smooth is None else 0.9 * smooth + 0.1 * float(loss)
    if numiter % 10 == 9:
        print(numiter + 1, 'loss %.4f' % smooth, 'eta %.3f' % net.eta.item())
