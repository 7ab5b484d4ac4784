# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = features, outputs, parts, part
"""Three laboratory results of a seed lot from one X-ray."""
import argparse

import torch
from torch.utils.data import DataLoader

from lots import SeedLots
from network import LotNet, losses


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--lr", type=float, default=4e-3)
    return parser.parse_args([])


def train_one_epoch(net, loader, optimizer, weights):
    sums = dict.fromkeys(weights, 0.0)
    for texture, results in loader:
        outputs = net(texture)  # expect: place
        parts = losses(outputs, results, weights)  # expect: place
        optimizer.zero_grad()
        for task, part in parts.items():
            part.backward()  # expect: place
            sums[task] += part.item()
        optimizer.step()
    return {task: value / len(loader) for task, value in sums.items()}


@torch.no_grad()
def check(net, loader):
    net.eval()
    wrong = gap = seen = 0
    for texture, results in loader:
        outputs = net(texture)
        wrong += ((outputs["fungus"] > 0).float() != results["fungus"]).sum().item()
        gap += (outputs["germinated"].sigmoid() - results["germinated"]).abs().sum().item()
        seen += len(texture)
    net.train()
    return wrong / seen, gap / seen


def main():
    opts = options()
    torch.manual_seed(2)
    train = DataLoader(SeedLots(480, 1), batch_size=opts.batch, shuffle=True)
    test = DataLoader(SeedLots(240, 2), batch_size=240)
    net = LotNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=opts.lr, weight_decay=1e-3)
    weights = {"germinated": 1.0, "moisture": 5.0, "fungus": 0.7}
    for epoch in range(opts.epochs):
        means = train_one_epoch(net, train, optimizer, weights)
        wrong, gap = check(net, test)
        print(epoch, " ".join(f"{task} {mean:.3f}" for task, mean in means.items()),
              f"| fungus wrong {wrong:.1%}, germination off by {gap:.3f}")


main()
