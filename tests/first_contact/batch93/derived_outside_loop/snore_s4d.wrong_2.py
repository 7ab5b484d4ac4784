"""Snores, apnoeas, breaths: a diagonal state-space model (S4D) on envelopes of the night's sound."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class S4DLayer(nn.Module):
    """y = k * u + D u, with the kernel k of a complex diagonal system, by FFT."""

    def __init__(self, d_model, n_state=8, dt_range=(0.01, 0.2)):
        super().__init__()
        lo, hi = (math.log(v) for v in dt_range)
        self.log_dt = nn.Parameter(lo + (hi - lo) * torch.rand(d_model))
        self.log_re = nn.Parameter(torch.full((d_model, n_state), math.log(0.5)))
        self.im = nn.Parameter(math.pi * torch.arange(n_state).float().repeat(d_model, 1))
        self.C = nn.Parameter(torch.randn(d_model, n_state, 2) * 0.5 ** 0.5)
        self.D = nn.Parameter(torch.ones(d_model))
        self.mix = nn.Linear(d_model, 2 * d_model)
        self.norm = nn.LayerNorm(d_model)
        self.kernel = None

    def materialize(self, length):
        """Zero-order hold; the kernel only depends on the length, not on the input."""
        dt = self.log_dt.exp().unsqueeze(-1)
        A = torch.complex(-self.log_re.exp(), self.im)
        dtA = A * dt
        C = torch.view_as_complex(self.C) * (torch.exp(dtA) - 1.0) / A
        powers = torch.exp(dtA.unsqueeze(-1) * torch.arange(length))
        self.kernel = 2 * torch.einsum("hn,hnl->hl", C, powers).real.detach()

    def forward(self, u):
        length = u.shape[1]
        x = u.transpose(1, 2)
        K = torch.fft.rfft(self.kernel, n=2 * length)
        y = torch.fft.irfft(K * torch.fft.rfft(x, n=2 * length), n=2 * length)[..., :length]
        y = F.gelu(y + self.D[:, None] * x).transpose(1, 2)
        return self.norm(u + F.glu(self.mix(y), dim=-1))


class NightModel(nn.Module):
    def __init__(self, channels, d_model=12, depth=2, classes=3):
        super().__init__()
        self.embed = nn.Linear(channels, d_model)
        self.layers = nn.ModuleList(S4DLayer(d_model) for _ in range(depth))
        self.out = nn.Linear(d_model, classes)

    def setup(self, length):
        for layer in self.layers:
            layer.materialize(length)

    def forward(self, sound):
        x = self.embed(sound)
        for layer in self.layers:
            x = layer(x)
        return self.out(x.mean(1))


def envelopes(n, length):
    t = torch.arange(length).float()
    label = torch.randint(0, 3, (n,))
    rate = torch.tensor([0.35, 0.8, 0.1])[label].unsqueeze(1) * (0.9 + 0.2 * torch.rand(n, 1))
    slow = torch.sin(rate * t + 6.28 * torch.rand(n, 1))
    rough = torch.where(label == 1, 0.8, 0.3).unsqueeze(1) * torch.randn(n, length)
    return torch.stack([slow + rough, slow.abs() + 0.5 * rough.abs()], -1), label


def evaluate(model, data, length):
    model.eval()
    with torch.no_grad():
        model.setup(length)
        hits = sum((model(x).argmax(-1) == y).sum().item() for x, y in data)
    return hits / sum(len(y) for _, y in data)


def main():
    torch.manual_seed(84)
    length, longer = 48, 64
    x, y = envelopes(160, length)
    val = [envelopes(30, longer) for _ in range(2)]
    model = NightModel(2)
    ssm = [p for name, p in model.named_parameters() if name.split(".")[-1] in ("log_dt", "log_re", "im")]
    rest = [p for p in model.parameters() if all(p is not q for q in ssm)]
    optimizer = torch.optim.AdamW([{"params": ssm, "lr": 2e-3, "weight_decay": 0.0}, {"params": rest, "lr": 8e-3}])

    for epoch in range(6):
        model.train()
        model.setup(length)
        running = []
        for idx in torch.randperm(len(x)).split(32):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running.append(loss.item())
        print(f"epoch {epoch}: {sum(running) / len(running):.3f}, other length {evaluate(model, val, longer):.2f}")


if __name__ == "__main__":
    main()
