# expect: pattern = inplace-state
# expect: also = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = temps
"""Calibrate a small district heating net: water as plugs in three pipes, two of which join into the third."""
import numpy as np
import torch
import torch.nn as nn

NORTH, SOUTH, TRUNK = 0, 1, 2
CELLS = 6
DT = 1.0 / 12  # hours


class PipeNet(nn.Module):
    def __init__(self, volume=1.0, loss=0.10, share=0.5):
        super().__init__()
        self.log_volume = nn.Parameter(torch.full((3,), float(np.log(volume))))
        self.log_loss = nn.Parameter(torch.full((3,), float(np.log(loss))))
        self.share = nn.Parameter(torch.tensor(float(np.log(share / (1 - share)))))

    def forward(self, temps, supply, flow, ground):
        """One interval: advect, cool, feed. `temps` is (pipes, cells), from inlet to outlet."""
        share = torch.sigmoid(self.share)
        per_pipe = torch.stack([share * flow, (1 - share) * flow, flow])
        courant = (per_pipe * DT * CELLS / self.log_volume.exp()).clamp(max=1.0).unsqueeze(1)
        temps[:, 1:] = courant * temps[:, :-1] + (1 - courant) * temps[:, 1:]  # expect: place
        decay = torch.exp(-self.log_loss.exp() * DT).unsqueeze(1)
        temps[:] = ground + decay * (temps - ground)  # expect: place
        temps[NORTH, 0] = supply  # expect: place
        temps[SOUTH, 0] = supply - 2.0  # expect: place
        temps[TRUNK, 0] = share * temps[NORTH, -1] + (1 - share) * temps[SOUTH, -1]  # expect: place
        return temps


def simulate(net, start, supply, flow, ground):
    temps = start.clone()  # expect: place
    outlets = []
    for k in range(len(supply)):
        temps = net(temps, supply[k], flow[k], ground)  # expect: place
        outlets.append(temps[:, -1].clone())
    return torch.stack(outlets)


def day_of_data(n, rng):
    hours = np.arange(n) * DT
    supply = 80 + 6 * np.sin(2 * np.pi * hours / 8) + rng.normal(0, 0.3, n)
    flow = 0.9 + 0.3 * np.sin(2 * np.pi * hours / 5 + 1) + rng.normal(0, 0.02, n)
    return (torch.tensor(supply, dtype=torch.float32), torch.tensor(flow, dtype=torch.float32))


def main():
    torch.manual_seed(75)
    rng = np.random.default_rng(75)
    ground = 8.0
    start = torch.full((3, CELLS), 70.0)
    days = [day_of_data(36, rng) for _ in range(3)]

    truth = PipeNet(volume=1.4, loss=0.22, share=0.6)
    with torch.no_grad():
        measured = [simulate(truth, start, s, f, ground) + 0.1 * torch.randn(36, 3) for s, f in days]

    net = PipeNet()
    opt = torch.optim.Adam(net.parameters(), lr=0.04)
    for sweep in range(12):
        total = 0.0
        for (supply, flow), reading in zip(days[:2], measured[:2]):
            outlet = simulate(net, start, supply, flow, ground)
            loss = nn.functional.huber_loss(outlet, reading)
            opt.zero_grad()
            loss.backward()  # expect: place
            opt.step()
            total += loss.item()
        if sweep % 4 == 3:
            with torch.no_grad():
                check = (simulate(net, start, *days[2], ground) - measured[2]).abs().mean()
            print(f"sweep {sweep + 1}: {total / 2:.3f}, third day off by {check.item():.2f} K, "
                  f"share {torch.sigmoid(net.share).item():.2f}, "
                  f"losses {[round(v, 3) for v in net.log_loss.exp().tolist()]}")


if __name__ == "__main__":
    main()
