"""Voltage and current of an arc; what a lack of fusion looks like depends on the procedure."""
import torch


class Procedure:
    def __init__(self):
        self.pulse = 0.3 + 1.2 * torch.rand(())
        self.sign = 1.0 if torch.rand(()) < 0.5 else -1.0
        self.depth = 0.6 + 0.6 * torch.rand(())

    def seams(self, n, length=32):
        t = torch.arange(length).float()
        y = torch.arange(n) % 2
        phase = 6.28 * torch.rand(n, 1)
        voltage = torch.sin(self.pulse * t + phase)
        current = torch.cos(self.pulse * t + phase)
        drift = self.sign * self.depth * (t / length - 0.5)
        voltage = voltage + drift * (2 * y[:, None] - 1)
        x = torch.stack([voltage, current], 1) + 0.3 * torch.randn(n, 2, length)
        return x, y

    def episode(self, shots=6, queries=24):
        return self.seams(shots), self.seams(queries)
