"""Vibration of four pumps: healthy or worn? A deep 1-d conv net whose layers share a few kernels.

Every layer owns only a handful of mixing coefficients; the kernels themselves live in a bank, so that
a deep net costs hardly more than a flat one.
"""
# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = kernel, self.bank, bank, self.mix, mix, self.conv, conv, self.conv.weight
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)

WIDTH, TAPS, DEPTH, TEMPLATES = 12, 5, 4, 3


def pump_windows(n):
    t = torch.linspace(0, 1, 64)
    worn = torch.arange(n) % 2
    speed = 6 + 2 * torch.rand(n, 1)
    wave = torch.sin(2 * torch.pi * speed * t)
    click = torch.sin(2 * torch.pi * 4 * speed * t + 0.5) * worn[:, None]
    return (wave + 0.4 * click + 0.3 * torch.randn(n, 64)).unsqueeze(1), worn


class KernelBank(nn.Module):
    def __init__(self, templates, width, taps):
        super().__init__()
        self.kernels = nn.Parameter(torch.randn(templates, width, width, taps) / (width * taps) ** 0.5)

    def blend(self, coefficients):
        return torch.einsum("t,toik->oik", coefficients, self.kernels)


class SharedConv(nn.Module):
    def __init__(self, bank, templates, width, taps):
        super().__init__()
        self.bank = bank
        self.mix = nn.Parameter(torch.randn(templates))
        self.conv = nn.Conv1d(width, width, taps, padding=taps // 2)
        self.norm = nn.GroupNorm(3, width)

    def forward(self, x):
        kernel = self.bank.blend(torch.softmax(self.mix, dim=0))  # expect: place
        self.conv.load_state_dict({"weight": kernel}, strict=False)  # expect: place
        return x + F.relu(self.norm(self.conv(x)))  # expect: place


class PumpNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(1, WIDTH, TAPS, padding=TAPS // 2)
        bank = KernelBank(TEMPLATES, WIDTH, TAPS)
        self.body = nn.Sequential(*[SharedConv(bank, TEMPLATES, WIDTH, TAPS) for _ in range(DEPTH)])
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean(dim=-1))


net = PumpNet()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
signal, worn = pump_windows(256)
start = net.body[0].bank.kernels.detach().clone()

for epoch in range(4):
    for idx in torch.randperm(256).split(64):
        loss = F.cross_entropy(net(signal[idx]), worn[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")

moved = (net.body[0].bank.kernels.detach() - start).abs().max().item()
print(f"the shared kernels moved by {moved:.4f}")
