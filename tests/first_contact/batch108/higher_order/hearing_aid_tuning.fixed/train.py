"""Meta-learn a fitting of hearing aids that adapts to a listener from ten trials."""
import statistics

import torch
from torch import nn

from clinic import BANDS, SITUATIONS, listener
from meta import Adapter, squared


def build():
    return nn.Sequential(nn.Linear(2 * BANDS + 1, 32), nn.Softplus(), nn.Linear(32, BANDS))


def meta_step(adapter, optimizer, people):
    optimizer.zero_grad()
    record = {situation: [] for situation in SITUATIONS}
    for trials in people:
        tuned = adapter.tune(*trials(10, "quiet"))
        total = 0.0
        for situation in SITUATIONS:
            x, y = trials(12, situation)
            loss = squared(adapter.net, tuned, x, y) / (len(people) * len(SITUATIONS))
            total = total + loss
            record[situation].append(loss.item())
        total.backward()
    optimizer.step()
    return {situation: sum(values) for situation, values in record.items()}


def visit(adapter, trials):
    """What a new listener gets: error before and after tuning."""
    x, y = trials(40, "restaurant")
    before = squared(adapter.net, dict(adapter.net.named_parameters()), x, y).item()
    after = squared(adapter.net, adapter.tune(*trials(10, "quiet")), x, y).item()
    return before, after


def main():
    torch.manual_seed(23)
    gen = torch.Generator().manual_seed(23)
    adapter = Adapter(build())
    optimizer = torch.optim.Adam([
        {"params": adapter.net.parameters(), "lr": 5e-3},
        {"params": adapter.rates.values(), "lr": 1e-3},
    ])
    for step in range(12):
        errors = meta_step(adapter, optimizer, [listener(gen) for _ in range(4)])
        if step % 4 == 3:
            pairs = [visit(adapter, listener(gen)) for _ in range(5)]
            before, after = (statistics.mean(side) for side in zip(*pairs))
            print(f"step {step} " + " ".join(f"{s} {e:.3f}" for s, e in errors.items()),
                  f"| new listeners {before:.3f} -> {after:.3f}")


if __name__ == "__main__":
    main()
