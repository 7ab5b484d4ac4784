"""Seed lots as the testing station sees them: an X-ray texture vector and three results."""
import torch


class SeedLots(torch.utils.data.Dataset):
    def __init__(self, count, seed):
        gen = torch.Generator().manual_seed(seed)
        vigour = torch.randn(count, generator=gen)
        damage = torch.rand(count, generator=gen)
        mix = torch.randn(2, 18, generator=torch.Generator().manual_seed(7))
        self.texture = torch.stack([vigour, damage], 1) @ mix + 0.3 * torch.randn(count, 18, generator=gen)
        self.germinated = torch.sigmoid(1.5 * vigour - 2 * damage)
        self.moisture = 0.4 * damage + 0.1 * torch.randn(count, generator=gen)
        self.fungus = (damage + 0.2 * torch.randn(count, generator=gen) > 0.6).float()

    def __len__(self):
        return len(self.texture)

    def __getitem__(self, i):
        return self.texture[i], {"germinated": self.germinated[i], "moisture": self.moisture[i],
                                 "fungus": self.fungus[i]}
