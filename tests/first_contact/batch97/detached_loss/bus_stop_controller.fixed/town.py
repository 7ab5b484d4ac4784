"""A bus line through a town: demand along the road, and what a set of stops is worth."""
import torch


class Line:
    def __init__(self, blocks, seed):
        generator = torch.Generator().manual_seed(seed)
        where = torch.arange(blocks, dtype=torch.float32)
        centres = torch.rand(4, 1, generator=generator) * blocks
        weight = torch.rand(4, 1, generator=generator)
        self.demand = (weight * torch.exp(-((where - centres) / 2.0) ** 2)).sum(0)
        self.demand /= self.demand.sum()
        self.where = where

    def worth(self, stops, reach=1.5, cost=0.03):
        """Passengers who walk to the nearest stop, less what every stop costs in time."""
        away = (self.where[None, :, None] - stops[:, None, :].float()).abs()
        catch = torch.exp(-(away.min(-1).values / reach) ** 2)
        different = torch.tensor([len(set(row.tolist())) for row in stops])
        return (catch * self.demand).sum(1) - cost * different


def brute_force(line, stops, tries, generator):
    """How good the best of many random plans is, as a yardstick."""
    plans = torch.randint(0, len(line.demand), (tries, stops), generator=generator)
    return line.worth(plans).max().item()
