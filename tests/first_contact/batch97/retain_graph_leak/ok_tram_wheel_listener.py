"""Listens to tram wheels: which axle is it, and has it a flat? One stream, two tasks.

The gradients of the two tasks on the shared encoder are compared in every window (cosine, for the
log), and the rarer task is weighted up while it lags.
"""
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F


def wheel_stream(lanes, window, seed):
    """Endless windows of rail vibration: (lanes, window, 3), speeds, flats."""
    g = torch.Generator().manual_seed(seed)
    phase = torch.rand(lanes, generator=g)
    speed = 0.5 + torch.rand(lanes, generator=g)
    flat = torch.rand(lanes, generator=g).round()
    while True:
        rows, speeds, flats = [], [], []
        for _ in range(window):
            phase = (phase + 0.15 * speed) % 1
            speed = (speed + 0.05 * torch.randn(lanes, generator=g)).clamp(0.3, 1.8)
            swap = torch.rand(lanes, generator=g) < 0.01
            flat = torch.where(swap, 1 - flat, flat)
            knock = 2 * flat * (phase < 0.3)
            hum = torch.sin(6.283 * phase)
            rows.append(torch.stack([hum, knock, speed * 0.3], 1)
                        + 0.2 * torch.randn(lanes, 3, generator=g))
            speeds.append(speed)
            flats.append(flat)
        yield torch.stack(rows, 1), torch.stack(speeds, 1), torch.stack(flats, 1)


class Listener(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.encoder = nn.LSTM(3, width, batch_first=True)
        self.speed = nn.Linear(width, 1)
        self.flat = nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x, carry=None):
        h, carry = self.encoder(x, carry)
        return self.speed(h).squeeze(-1), self.flat(h).squeeze(-1), carry


def flatten(params):
    return torch.cat([p.grad.flatten() for p in params])


class Session:
    def __init__(self, model, lr):
        self.model = model
        self.shared = list(model.encoder.parameters())
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.carry = None
        self.lag = 1.0
        self.cosines = []

    def window(self, x, speed, flat):
        v, f, carry = self.model(x, self.carry)
        self.carry = tuple(part.detach() for part in carry)
        of_speed = F.mse_loss(v, speed)
        of_flat = F.binary_cross_entropy_with_logits(f, flat)

        self.opt.zero_grad()
        of_speed.backward(retain_graph=True)
        first = flatten(self.shared)
        (self.lag * of_flat).backward()
        second = flatten(self.shared) - first
        self.cosines.append(F.cosine_similarity(first, second, dim=0).item())
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()

        ratio = of_flat.item() / (of_speed.item() + 1e-3)
        self.lag = 0.95 * self.lag + 0.05 * min(4.0, max(0.5, ratio))
        return of_speed.item(), of_flat.item()

    @torch.no_grad()
    def listen(self, stream, windows):
        carry, right, count = None, 0.0, 0
        for x, _, flat in itertools.islice(stream, windows):
            _, f, carry = self.model(x, carry)
            right += (f > 0).eq(flat > 0.5).sum().item()
            count += flat.numel()
        return right / count


def main():
    torch.manual_seed(38)
    session = Session(Listener(), lr=1e-2)
    stream = wheel_stream(lanes=12, window=20, seed=38)
    for block in range(8):
        logs = [session.window(*batch) for batch in itertools.islice(stream, 15)]
        speed, flat = (sum(column) / len(column) for column in zip(*logs))
        heard = session.listen(wheel_stream(8, 20, seed=100), 10)
        print(f"block {block} speed {speed:.3f} flat {flat:.3f} weight {session.lag:.2f} "
              f"cosine {sum(session.cosines[-15:]) / 15:+.2f} heard {heard:.2f}")


if __name__ == "__main__":
    main()
