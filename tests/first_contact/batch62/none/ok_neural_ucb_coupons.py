# expect: pattern = none
# expect: raises = nothing
"""Neural UCB for choosing a coupon: the bonus of an arm is the norm of its own parameter gradient."""
from collections import deque
from contextlib import contextmanager

import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector

torch.manual_seed(4)
ARMS, CONTEXT = 4, 6


def reward_model(width=16):
    return nn.Sequential(nn.Linear(ARMS * CONTEXT, width), nn.ReLU(), nn.Linear(width, 1))


def encode(user):
    """Disjoint encoding, a row an arm."""
    return torch.stack([torch.cat([user if a == k else torch.zeros(CONTEXT) for k in range(ARMS)])
                        for a in range(ARMS)])


def arm_gradients(net, x):
    weights = list(net.parameters())
    means = net(x).squeeze(1)
    rows = [torch.cat([g.flatten() for g in torch.autograd.grad(m, weights, retain_graph=True)])
            for m in means]
    return means.detach(), torch.stack(rows)


class Confidence:
    def __init__(self, net, ridge=1.0, width=0.3):
        self.diag = torch.full_like(parameters_to_vector(net.parameters()).detach(), ridge)
        self.width = width

    def bonus(self, grads):
        return self.width * (grads.square() / self.diag).sum(1).sqrt()

    def observe(self, grad):
        self.diag += grad.square()


@contextmanager
def frozen_reference(net):
    anchor = [p.detach().clone() for p in net.parameters()]
    yield lambda: sum((p - a).square().sum() for p, a in zip(net.parameters(), anchor))


def refit(net, memory, epochs=3, decay=1e-3):
    """Ridge towards the weights the refit began with."""
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    xs, rs = map(torch.stack, zip(*memory))
    with frozen_reference(net) as drift:
        for _ in range(epochs):
            opt.zero_grad()
            loss = (net(xs).squeeze(1) - rs).square().mean() + decay * drift()
            loss.backward()
            opt.step()
    return loss.item()


def play(rounds=40, refit_every=5):
    taste = torch.randn(ARMS, CONTEXT)
    net = reward_model()
    ucb = Confidence(net)
    memory, regret, fit = deque(maxlen=25), 0.0, float("nan")
    for t in range(1, rounds + 1):
        user = nn.functional.normalize(torch.randn(CONTEXT), dim=0)
        x = encode(user)
        mean, grads = arm_gradients(net, x)
        arm = int((mean + ucb.bonus(grads)).argmax())
        expected = torch.sigmoid(taste @ user)
        reward = (torch.rand(()) < expected[arm]).float()
        ucb.observe(grads[arm])
        memory.append((x[arm], reward))
        regret += (expected.max() - expected[arm]).item()
        if t % refit_every == 0:
            fit = refit(net, memory)
            print(f"{t:3d} regret {regret:.2f} fit {fit:.4f}")
    return regret


if __name__ == "__main__":
    play()
