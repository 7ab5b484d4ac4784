"""Reverberation of naves from claps: few long impulse responses at a time, large batches in effect.

Gradients of FOLD mini-batches are gathered before a step; what is left at the end of an epoch
steps too, rescaled to the number of its parts.
"""
import torch
from torch import nn

FOLD, SAMPLES = 4, 128


def claps(count, seed):
    gen = torch.Generator().manual_seed(seed)
    decay = 0.5 + 2.5 * torch.rand(count, generator=gen)
    t = torch.linspace(0, 1, SAMPLES)
    wave = torch.randn(count, SAMPLES, generator=gen) * torch.exp(-decay[:, None] * 2 * t)
    return wave.unsqueeze(1), decay


class EchoNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(1, 12, 9, stride=4)
        self.back = nn.Conv1d(12, 12, 5, stride=2)
        self.out = nn.Linear(12 * 13, 1)

    def forward(self, wave):
        h = torch.log1p(self.front(wave).pow(2))
        return self.out(torch.relu(self.back(h)).flatten(1)).squeeze(1)


class Gatherer:
    """Steps after every `fold` backwards."""

    def __init__(self, optimizer, fold):
        self.optimizer, self.fold, self.held = optimizer, fold, 0

    def backward(self, loss):
        (loss / self.fold).backward()
        self.held += 1
        if self.held == self.fold:
            self.flush()

    def flush(self):
        if not self.held:
            return
        if self.held < self.fold:
            for group in self.optimizer.param_groups:
                for p in group["params"]:
                    p.grad.mul_(self.fold / self.held)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.held = 0


def main():
    torch.manual_seed(50)
    wave, decay = claps(330, 1)
    test_wave, test_decay = claps(150, 2)
    net = EchoNet()
    gather = Gatherer(torch.optim.AdamW(net.parameters(), lr=5e-3), FOLD)
    for epoch in range(6):
        total = 0.0
        for rows in torch.randperm(len(decay)).split(12):
            loss = nn.functional.mse_loss(net(wave[rows]), decay[rows])
            gather.backward(loss)
            total += loss.item() * len(rows)
        gather.flush()
        with torch.no_grad():
            off = (net(test_wave) - test_decay).abs().mean().item()
        print(f"epoch {epoch}: {total / len(decay):.4f}, held-out off by {off:.3f}")


if __name__ == "__main__":
    main()
