"""Grade tea leaves season by season without forgetting the earlier harvests."""
import argparse

import torch
from torch.nn import functional as F

from network import LeafGrader
from plugins import EwcPlugin, LossCurve
from seasons import season_stream


class Strategy:
    """Naive fine-tuning; plugins may add to the loss and look at the end of a season."""

    def __init__(self, model, optimizer, plugins):
        self.model, self.optimizer, self.plugins = model, optimizer, plugins
        self.season, self.loss = 0, None

    def _fire(self, moment, *args):
        for plugin in self.plugins:
            getattr(plugin, moment)(self, *args)

    def fit_season(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            self.loss = F.cross_entropy(self.model(x), y)
            self._fire("before_backward")
            self.loss.backward()
            self._fire("after_backward")
            self.optimizer.step()
        self._fire("after_season", batches)
        self.season += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--importance", type=float, default=40.0)
    parser.add_argument("--seasons", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    torch.manual_seed(19)
    model = LeafGrader(features=9, grades=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.5)
    curve = LossCurve()
    strategy = Strategy(model, optimizer, [EwcPlugin(args.importance), curve])
    first = None
    for batches in season_stream(args.seasons):
        strategy.fit_season(batches)
        first = first or batches
        with torch.no_grad():
            kept = sum((model(x).argmax(1) == y).float().mean().item() for x, y in first)
        print(f"season {strategy.season}: loss {curve.mean():.3f}, "
              f"first season still {kept / len(first):.2f}")


if __name__ == "__main__":
    main()
