"""Cutting sounds of a milling shop, as band energies; tasks are materials, one month after another."""
import torch

STATES = ["sharp", "worn", "chipped", "chatter"]
BANDS = 24


class Shop:
    def __init__(self, materials, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.tone = {m: torch.randn(BANDS, generator=self.g) for m in materials}
        base = torch.randn(len(STATES), BANDS, generator=self.g)
        self.state = {m: base + 0.8 * torch.randn(len(STATES), BANDS, generator=self.g) for m in materials}

    def month(self, material, count):
        state = torch.randint(len(STATES), (count,), generator=self.g)
        noise = 1.2 * torch.randn(count, BANDS, generator=self.g)
        return self.tone[material] + self.state[material][state] + noise, state
