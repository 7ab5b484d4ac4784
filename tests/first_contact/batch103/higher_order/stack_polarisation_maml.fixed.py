"""Polarisation curves of fuel-cell stacks from few points each: MAML over stacks.

A stack is measured at a handful of loads (support); the rest of its curve, in three regimes, is the
query. The inner learning rates are learnt along with the initial weights, one for each tensor.
"""
import torch
from torch import nn
from torch.func import functional_call

REGIMES = {"activation": (0.02, 0.3), "ohmic": (0.3, 0.9), "transport": (0.9, 1.25)}


class Stack:
    """Tafel slope, resistance and limiting current of one stack; voltages come centred."""

    def __init__(self, gen):
        u = torch.rand(4, generator=gen)
        self.open, self.tafel = 0.95 + 0.05 * u[0], 0.03 + 0.03 * u[1]
        self.ohm, self.limit = 0.1 + 0.2 * u[2], 1.35 + 0.3 * u[3]
        self.gen = gen

    def measure(self, low, high, n):
        i = low + (high - low) * torch.rand(n, 1, generator=self.gen)
        v = self.open - self.tafel * torch.log(i / 0.005) - self.ohm * i + 0.06 * torch.log(1 - i / self.limit)
        v = v + 0.003 * torch.randn(n, 1, generator=self.gen)
        return torch.cat([i, torch.log(i)], 1), 5 * (v - 0.65)

    def support(self, n=6):
        return self.measure(0.02, 1.25, n)

    def query(self, n=10):
        return {name: self.measure(*ends, n) for name, ends in REGIMES.items()}


class Curve(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                                    nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)


class Learner(nn.Module):
    def __init__(self, inner_steps=2, rate=0.05):
        super().__init__()
        self.curve = Curve()
        self.log_rate = nn.ParameterDict({
            name.replace(".", "_"): nn.Parameter(torch.tensor(rate).log())
            for name, _ in self.curve.named_parameters()})
        self.inner_steps = inner_steps

    def adapt(self, x, y):
        fast = dict(self.curve.named_parameters())
        for _ in range(self.inner_steps):
            misfit = nn.functional.mse_loss(functional_call(self.curve, fast, (x,)), y)
            slopes = torch.autograd.grad(misfit, tuple(fast.values()), create_graph=True)
            fast = {name: w - self.log_rate[name.replace(".", "_")].exp() * g
                    for (name, w), g in zip(fast.items(), slopes)}
        return fast

    def predict(self, fast, x):
        return functional_call(self.curve, fast, (x,))


def meta_step(learner, optimizer, stacks):
    optimizer.zero_grad()
    tally = dict.fromkeys(REGIMES, 0.0)
    for stack in stacks:
        fast = learner.adapt(*stack.support())
        total = 0.0
        for regime, (x, y) in stack.query().items():
            loss = nn.functional.mse_loss(learner.predict(fast, x), y)
            loss = loss / (len(stacks) * len(REGIMES))
            total = total + loss
            tally[regime] += loss.item() * len(REGIMES)
        total.backward()
    nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
    optimizer.step()
    return tally


def evaluate(learner, stacks):
    """Millivolts of error after adaptation; the inner gradients are needed, the outer ones not."""
    errors = dict.fromkeys(REGIMES, 0.0)
    for stack in stacks:
        fast = {name: w.detach() for name, w in learner.adapt(*stack.support()).items()}
        with torch.no_grad():
            for regime, (x, y) in stack.query().items():
                errors[regime] += 200 * (learner.predict(fast, x) - y).abs().mean().item() / len(stacks)
    return errors


def main():
    torch.manual_seed(29)
    gen = torch.Generator().manual_seed(29)
    learner = Learner()
    optimizer = torch.optim.Adam(learner.parameters(), lr=5e-3)
    for step in range(40):
        tally = meta_step(learner, optimizer, [Stack(gen) for _ in range(4)])
        if step % 10 == 9:
            errors = evaluate(learner, [Stack(torch.Generator().manual_seed(s)) for s in range(8)])
            print(f"{step + 1:3d} meta loss {sum(tally.values()) / 3:.4f}",
                  " ".join(f"{regime} {mv:.0f} mV" for regime, mv in errors.items()))


if __name__ == "__main__":
    main()
