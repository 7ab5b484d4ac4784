"""Three farms over one aquifer, each for itself: a differential game played by gradient.

Every farm descends on its own cost and on nobody else's; the water table that all of them draw on
is what ties them together.
"""
import torch

from aquifer import play, recharge
from farms import Farm


def bounded_norm(parameters, limit):
    return float(torch.nn.utils.clip_grad_norm_(parameters, limit))


def round_of_play(farms, rain, log):
    profit, level = play(farms, rain)
    for farm in farms:
        farm.optimizer.zero_grad()
    for farm in farms:
        cost = -profit[farm.name].mean()
        cost.backward(retain_graph=True)
        log.append((farm.name, -cost.item(), 0.0))
    for farm in farms:
        bounded_norm(farm.rule.parameters(), 5.0)
        farm.optimizer.step()
    return level.detach()


@torch.no_grad()
def audit(farms, rain):
    profit, level = play(farms, rain)
    return {name: gain.mean().item() for name, gain in profit.items()}, level.mean().item()


def main():
    torch.manual_seed(29)
    weather = torch.Generator().manual_seed(5)
    farms = [Farm("alfalfa", 1.6, 2.2), Farm("almonds", 2.4, 2.6), Farm("melons", 1.2, 1.8)]
    unseen = recharge(64, 12, weather)
    log = []
    for it in range(1, 25):
        level = round_of_play(farms, recharge(16, 12, weather), log)
        if it % 8 == 0:
            gains, rest = audit(farms, unseen)
            told = "  ".join(f"{name} {gain:6.3f}" for name, gain in gains.items())
            print(f"round {it:3d}  {told}  table {rest:5.2f} (lowest {level.min().item():5.2f})")
    print("largest gradient:", max(log, key=lambda row: row[2]))


if __name__ == "__main__":
    main()
