# Spiking network on surrogate EEG windows: seizure / no seizure
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader


class FastSigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, slope):
        ctx.save_for_backward(u)
        ctx.slope = slope
        return (u > 0).float()

    @staticmethod
    def backward(ctx, grad_out):
        (u,) = ctx.saved_tensors
        return grad_out / (ctx.slope * u.abs() + 1.0) ** 2, None


class LIF(nn.Module):
    """Leaky integrate-and-fire layer which keeps its own membrane potential."""

    def __init__(self, n_in, n_out, beta=0.9, threshold=1.0):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.beta = nn.Parameter(torch.full((n_out,), beta))
        self.threshold = threshold
        self.reset_mem()

    def reset_mem(self):
        self.mem = None

    def forward(self, spikes_in):
        cur = self.fc(spikes_in)
        if self.mem is None:
            self.mem = torch.zeros_like(cur)
        self.mem = self.beta.clamp(0, 1) * self.mem + cur
        out = FastSigmoid.apply(self.mem - self.threshold, 25.0)
        self.mem = self.mem - out.detach() * self.threshold
        return out


class SeizureNet(nn.Module):
    def __init__(self, channels=6, hidden=24):
        super().__init__()
        self.hidden = LIF(channels, hidden)
        self.readout = LIF(hidden, 2, threshold=1e9)

    def reset(self):
        for lif in (self.hidden, self.readout):
            lif.reset_mem()

    def detach(self):
        for lif in (self.hidden, self.readout):
            lif.mem = lif.mem.detach()

    def forward(self, x):                      # x: (time, batch, channels)
        potentials = []
        for t in range(x.size(0)):
            self.readout(self.hidden(x[t]))
            potentials.append(self.readout.mem)
        return torch.stack(potentials).mean(0)


def make_eeg(n=96, steps=12, channels=6):
    label = torch.randint(0, 2, (n,))
    t = torch.linspace(0, 1, steps)
    rhythm = torch.sin(2 * torch.pi * 3 * t)[None, :, None] * label[:, None, None]
    return torch.randn(n, steps, channels) * 0.5 + rhythm, label


torch.manual_seed(11)
X, y = make_eeg()
loader = DataLoader(TensorDataset(X, y), batch_size=24, shuffle=True)
net = SeizureNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(3):
    net.reset()
    net.train()
    hits = 0
    for windows, target in loader:
        logits = net(windows.transpose(0, 1))
        loss = F.cross_entropy(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        net.detach()
        hits += (logits.argmax(1) == target).sum().item()
    print(f"epoch {epoch}  loss {loss.item():.3f}  acc {hits / len(X):.2f}")
