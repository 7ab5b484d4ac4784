"""A bathtub aquifer under several farms."""
import torch

AREA = 4.0
DISCOUNT = 0.97


def recharge(n_years, seasons, generator):
    wet = torch.rand(n_years, 1, generator=generator) * 0.8 + 0.4
    shape = torch.tensor([1.0, 0.6, 0.1, 0.4]).repeat(seasons // 4)
    return wet * shape + 0.05 * torch.rand(n_years, seasons, generator=generator)


def play(farms, rain, start=1.0):
    """Let everybody pump for all seasons; discounted profit of each farm by name."""
    level = torch.full((len(rain),), start)
    profit = {farm.name: torch.zeros(len(rain)) for farm in farms}
    for t in range(rain.shape[1]):
        pumped = {farm.name: farm.rule(level, t % 4, rain[:, t]) for farm in farms}  # expect: place
        for farm in farms:
            gain = farm.income(pumped[farm.name], level)
            profit[farm.name] = profit[farm.name] + DISCOUNT**t * gain
        total = sum(pumped.values())
        level = level + (rain[:, t] - total) / AREA  # expect: place
    return profit, level
