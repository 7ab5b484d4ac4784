"""Side-channel attack on our own smart card: Hamming weight of an S-box output from power traces.

Profiling with adversarial training ("fast FGSM", random start), because the traces of the next
card of the same batch are never quite those of the profiled one.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

SAMPLES = 80
CLASSES = 9
EPS = 0.25
POI = (18, 41, 63)  # where the weight leaks


class Card:
    """Simulated traces; `gain` and `jitter` differ from card to card."""

    def __init__(self, seed, gain=1.0, jitter=0):
        self.gen = torch.Generator().manual_seed(seed)
        self.gain, self.jitter = gain, jitter

    def measure(self, n):
        byte = torch.randint(0, 256, (n,), generator=self.gen)
        weight = sum((byte >> bit) & 1 for bit in range(8))
        base = torch.sin(torch.arange(SAMPLES) / 5.0)
        traces = base + 0.6 * torch.randn(n, SAMPLES, generator=self.gen)
        for k, at in enumerate(POI):
            traces[:, at + self.jitter] += self.gain * (0.3 - 0.05 * k) * (weight - 4)
        return traces, weight


class TraceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 7, padding=3)
        self.pool = nn.AvgPool1d(2)
        self.fc1 = nn.Linear(8 * SAMPLES // 2, 32)
        self.fc2 = nn.Linear(32, CLASSES)

    def forward(self, x):
        x = self.pool(F.selu(self.conv(x.unsqueeze(1))))
        return self.fc2(F.selu(self.fc1(x.flatten(1))))


class FastAdversary:
    def __init__(self, eps, alpha):
        self.eps, self.alpha = eps, alpha

    def __call__(self, model, x, y):
        shift = torch.empty_like(x).uniform_(-self.eps, self.eps).requires_grad_()
        x_adv = x + shift
        F.cross_entropy(model(x_adv), y).backward()
        x_adv.retain_grad()
        grad = x_adv.grad.sign()
        shift = (shift.detach() + self.alpha * grad).clamp(-self.eps, self.eps)
        return x + shift


def guessing_entropy(model, card, n=400):
    """Mean rank of the true weight among the nine."""
    x, y = card.measure(n)
    with torch.no_grad():
        logp = F.log_softmax(model(x), 1)
    rank = (logp > logp.gather(1, y.unsqueeze(1))).sum(1)
    return rank.float().mean().item()


def profile(model, card, steps, batch):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, total_steps=steps)
    adversary = FastAdversary(EPS, alpha=1.25 * EPS)
    running = 0.0
    for step in range(steps):
        x, y = card.measure(batch)
        x = adversary(model, x, y)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        running += (loss.item() - running) / min(step + 1, 20)
        if (step + 1) % 40 == 0:
            print(f"step {step + 1}: loss {running:.3f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    model = TraceNet()
    profile(model, Card(seed=1), steps=120, batch=100)
    for name, card in [("same card", Card(seed=2)), ("weaker card", Card(seed=3, gain=0.8)),
                       ("late trigger", Card(seed=4, jitter=1))]:
        print(f"{name}: rank {guessing_entropy(model, card):.2f} of {CLASSES}")
