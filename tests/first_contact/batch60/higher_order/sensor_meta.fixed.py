



"""Meta-learned start for gas sensors: every device is adapted from a handful of lab readings."""
import torch
from torch import nn
from torch.func import functional_call


def make_device(rng):
    gain = 0.5 + torch.rand(1, generator=rng)
    shift = torch.randn(1, generator=rng) * 0.4
    bend = torch.rand(1, generator=rng)

    def readings(n):
        ppm = torch.rand(n, 1, generator=rng) * 2 - 1
        volts = gain * ppm + shift + bend * ppm**2
        return volts + 0.01 * torch.randn(n, 1, generator=rng), ppm

    return readings


def mse(net, weights, data):
    volts, ppm = data
    return nn.functional.mse_loss(functional_call(net, weights, (volts,)), ppm)


def adapt(net, support, rates, n_steps):
    fast = dict(net.named_parameters())
    for _ in range(n_steps):
        inner = mse(net, fast, support)
        grads = torch.autograd.grad(inner, tuple(fast.values()), create_graph=True)
        fast = {k: w - rates[k.replace(".", "_")] * g for (k, w), g in zip(fast.items(), grads)}
    return fast


def meta_epoch(net, rates, devices, outer, n_steps=2, chunk=16):
    """One outer step over all devices; field readings go in chunks, as the drift windows do."""
    outer.zero_grad()
    report = []
    for readings in devices:
        adapted = adapt(net, readings(8), rates, n_steps)
        field = readings(3 * chunk)
        parts = list(zip(field[0].split(chunk), field[1].split(chunk)))
        total = 0.0
        for part in parts:
            total = total + mse(net, adapted, part) / (len(parts) * len(devices))
        total.backward()
        report.append(total.item())
    outer.step()
    return sum(report)


def main():
    torch.manual_seed(3)
    rng = torch.Generator().manual_seed(14)
    net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
    rates = nn.ParameterDict(
        {name.replace(".", "_"): nn.Parameter(torch.full_like(p, 0.1)) for name, p in net.named_parameters()}
    )
    outer = torch.optim.Adam([*net.parameters(), *rates.parameters()], lr=2e-3)
    for epoch in range(6):
        devices = [make_device(rng) for _ in range(4)]
        print(f"epoch {epoch}  field error {meta_epoch(net, rates, devices, outer):.4f}")


if __name__ == "__main__":
    main()
